/** @jsxImportSource @kitajs/html */
import { LANGUAGE_TAG } from '#actions/request/options.ts'
import { isListItem, LISTS, toHref } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** The data of every HTML document: the explorer's pages, the reference and the status. */
export type Shell = Pick<Visit, 'site' | 'root' | 'home' | 'lang' | 'say' | 'path' | 'query'>

/** A search for anything by its name, hash or number. */
function SearchBox({ frame }: { readonly frame: Shell }): Html {
  const { say, query, path } = frame
  const words = say({
    en: 'Account, token, contract, block or transaction',
    zh: '账户、代币、合约、区块或交易',
  })
  return (
    <search>
      <form class="search" action={toHref(frame, '/search')} method="get">
        <input
          type="search"
          name="text"
          value={path === '/search' ? (query.get('text') ?? '') : ''}
          placeholder={words}
          aria-label={words}
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          required
        />
        <button type="submit" safe>
          {say({ en: 'Search', zh: '搜索' })}
        </button>
      </form>
    </search>
  )
}

/** The header of every page: the logo, a search, switches, and the navigation. */
function Top({ shell, other, sign, isTimed = false }: TopProps): Html {
  const { say, site } = shell
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href={site.isExplored ? toHref(shell, '/') : docsHref(shell)}>
          IOST <span safe>{say(site.isExplored ? { en: 'explorer', zh: '浏览器' } : API)}</span>
        </a>
        {site.isExplored && <SearchBox frame={shell} />}
        {sign as 'safe'}
        <span class="switches">
          {isTimed && <ZoneSwitch shell={shell} />}
          <ThemeSwitch shell={shell} />
          <LanguageSwitch lang={shell.lang} href={other} />
        </span>
      </div>
      <Lists shell={shell} />
    </header>
  )
}

type TopProps = {
  readonly shell: Shell
  /** Address of the same page in the other language. */
  readonly other: string
  /** The live sign; absent: the page is never live. */
  readonly sign?: Html
  /** Whether the page shows times. */
  readonly isTimed?: boolean
}

const API = { en: 'API', zh: 'API 文档' } as const

const docsHref = ({ root, lang }: Shell): string => `${root}docs/${lang}`

function Lists({ shell }: { readonly shell: Shell }): Html {
  const { say, path, site } = shell
  const lists = site.isExplored ? LISTS : []
  return (
    <nav class="bar" aria-label={say({ en: 'Lists', zh: '列表' })}>
      {lists.map(([to, name]) => (
        <a
          href={toHref(shell, to)}
          aria-current={to === path ? 'page' : isListItem(to, path) ? 'true' : undefined}
          safe
        >
          {say(name)}
        </a>
      ))}
      <span class="service">
        <a href={docsHref(shell)} aria-current={path === '/docs' ? 'page' : undefined} safe>
          {say(API)}
        </a>
      </span>
    </nav>
  )
}

const ZoneSwitch = ({ shell: { say } }: { readonly shell: Shell }): Html => (
  <button
    type="button"
    class="zone"
    data-utc="UTC"
    data-local={say({ en: 'Local time', zh: '本地时间' })}
    title={say({ en: 'Times in UTC or in your own zone', zh: '时间显示为 UTC 或本地时区' })}
    aria-pressed="false"
  >
    UTC
  </button>
)

/**
 * The switch of the theme. Its initial text is the system's theme, since only the script knows the visitor's choice.
 */
const ThemeSwitch = ({ shell: { say } }: { readonly shell: Shell }): Html => (
  <button
    type="button"
    class="theme"
    aria-label={say({ en: 'Theme: system', zh: '主题：跟随系统' })}
    data-system={say({ en: 'Theme: system', zh: '主题：跟随系统' })}
    data-light={say({ en: 'Theme: light', zh: '主题：浅色' })}
    data-dark={say({ en: 'Theme: dark', zh: '主题：深色' })}
  ></button>
)

function LanguageSwitch({ lang, href }: { readonly lang: Shell['lang']; readonly href: string }): Html {
  const other = lang === 'en' ? 'zh' : 'en'
  return (
    <a class="language" href={href} hreflang={LANGUAGE_TAG[other]} lang={LANGUAGE_TAG[other]}>
      {other === 'zh' ? '中文' : 'English'}
    </a>
  )
}

type DocumentProps = TopProps & {
  readonly title: string
  /** A sentence for search engines. */
  readonly description: string
  /** Additional elements of the document's head. */
  readonly links?: Html
  /** The height of the document's data. */
  readonly height?: number | undefined
  /** The content below the header, with the element `#main`. */
  readonly children: Html | readonly Html[]
}

/** A complete HTML document in the common design. */
export function Document({ title, description, links, height, children, ...top }: DocumentProps): Html {
  const { site, root, lang, say } = top.shell
  return (
    <>
      {'<!doctype html>'}
      <html lang={LANGUAGE_TAG[lang]}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title safe>{title}</title>
          <meta name="description" content={description} />
          {links as 'safe'}
          <link rel="icon" href={`${root}favicon.svg`} type="image/svg+xml" />
          <link rel="apple-touch-icon" href={`${root}apple-touch-icon.png`} />
          <script src={`${root}assets/${site.assets.theme}`}></script>
          <link rel="stylesheet" href={`${root}assets/${site.assets.style}`} />
          <script src={`${root}assets/${site.assets.script}`} type="module"></script>
        </head>
        <body data-root={root} data-lang={lang} data-height={height}>
          <a class="skip" href="#main" safe>
            {say({ en: 'Skip to the content', zh: '跳到正文' })}
          </a>
          <Top {...top} />
          {children as 'safe'}
        </body>
      </html>
    </>
  )
}

/**
 * A page of the service itself, such as the reference. It has the explorer's design, and is served without
 * the explorer, too.
 */
export const ServicePage = ({ children, ...props }: DocumentProps): Html => (
  <Document {...props}>
    {children as 'safe'}
    <footer class="foot">
      <p>
        iostlens <span safe>{props.shell.site.version}</span>
      </p>
    </footer>
  </Document>
)
