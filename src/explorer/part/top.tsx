/** @jsxImportSource @kitajs/html */
import { LANGUAGE_TAG } from '#actions/request/options.ts'
import { hrefTo } from '../links.ts'
import { isWithin, LISTS } from '../lists.ts'
import type { Html } from '../page.ts'
import type { Shell } from './frame.ts'
import { SearchBox } from './search-box.tsx'

/** The header of every page: the logo, a search, switches, and the navigation. */
export const Top = ({ shell, other, sign, isTimed = false }: TopProps): Html => {
  const { say, site } = shell
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href={site.isExplored ? hrefTo(shell, '/') : docsHref(shell)}>
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

export type TopProps = {
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

const Lists = ({ shell }: { readonly shell: Shell }): Html => {
  const { say, path, site } = shell
  const lists = site.isExplored ? LISTS : []
  return (
    <nav class="bar" aria-label={say({ en: 'Lists', zh: '列表' })}>
      {lists.map(([to, name]) => (
        <a href={hrefTo(shell, to)} aria-current={to === path ? 'page' : isWithin(to, path) ? 'true' : undefined} safe>
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

const LanguageSwitch = ({ lang, href }: { readonly lang: Shell['lang']; readonly href: string }): Html => {
  const other = lang === 'en' ? 'zh' : 'en'
  return (
    <a class="language" href={href} hreflang={LANGUAGE_TAG[other]} lang={LANGUAGE_TAG[other]}>
      {other === 'zh' ? '中文' : 'English'}
    </a>
  )
}
