/** @jsxImportSource @kitajs/html */
import { LANGUAGE_TAG } from '#actions/request/options.ts'
import { absolute } from '../format/time.ts'
import { oneLine } from '../format/visible.ts'
import { hrefTo, lastingHref } from '../links.ts'
import { isWithin, LISTS } from '../lists.ts'
import type { Html, Shown } from '../page.ts'
import { CallLinks } from './calls.tsx'
import { Crumbs } from './crumbs.tsx'
import type { Frame } from './frame.ts'
import { OpenGraph } from './open-graph.tsx'
import { SearchBox } from './search-box.tsx'

/** Letters of a title and of a description: more than search engines show. */
const MOST_TITLE = 120
const MOST_DESCRIPTION = 300

/** A whole page as a document of HTML. */
export const Layout = ({ frame, shown }: { readonly frame: Frame; readonly shown: Shown }): Html => {
  const { site, root, lang, say, path, height } = frame
  const { title: full, description: told = full, body, isMinor = false } = shown
  const [title, description] = [oneLine(full, MOST_TITLE), oneLine(told, MOST_DESCRIPTION)]
  return (
    <>
      {'<!doctype html>'}
      <html lang={LANGUAGE_TAG[lang]}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title safe>{`${title} · IOST`}</title>
          <meta name="description" content={description} />
          <OpenGraph frame={frame} title={title} description={description} />
          {isMinor ? <meta name="robots" content="noindex" /> : ''}
          <link rel="canonical" href={lastingHref(frame, path)} />
          <link
            rel="alternate"
            hreflang={LANGUAGE_TAG.en}
            href={lastingHref({ ...frame, lang: 'en' }, path)}
          />
          <link
            rel="alternate"
            hreflang={LANGUAGE_TAG.zh}
            href={lastingHref({ ...frame, lang: 'zh' }, path)}
          />
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
          <Head frame={frame} />
          <main id="main">
            <Crumbs frame={frame} />
            {body}
          </main>
          <Foot frame={frame} />
        </body>
      </html>
    </>
  )
}

/** Says whether an open page is live and its data current; only the script shows it. Room is kept for the longer text, so nothing jumps. */
const LiveSign = ({ frame: { say, root, lang } }: { readonly frame: Frame }): Html => (
  <span class="live">
    <span class="on" safe>
      {say({ en: 'Live', zh: '实时' })}
    </span>
    <span
      class="late"
      title={say({
        en: 'The live connection was lost; the page now refreshes at intervals.',
        zh: '与服务的实时连接已断开；页面改为定时更新。',
      })}
      safe
    >
      {say({ en: 'Delayed', zh: '延迟' })}
    </span>
    <span
      class="held"
      title={say({
        en: 'New data waits while you point at the rows or use them; the page is as of the block at its foot.',
        zh: '指向或操作列表时暂停更新；页面数据截至页脚所示区块。',
      })}
      safe
    >
      {say({ en: 'Paused', zh: '已暂停' })}
    </span>
    <a class="stale" href={`${root}status?lang=${lang}`} safe>
      {say({ en: 'Not current', zh: '非最新' })}
    </a>
  </span>
)

const Head = ({ frame }: { readonly frame: Frame }): Html => {
  const { say, path } = frame
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href={hrefTo(frame, '/')}>
          IOST <span safe>{say({ en: 'explorer', zh: '浏览器' })}</span>
        </a>
        <SearchBox frame={frame} />
        <LiveSign frame={frame} />
        <span class="switches">
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
          <ThemeSwitch frame={frame} />
          <LanguageSwitch frame={frame} />
        </span>
      </div>
      <nav class="bar" aria-label={say({ en: 'Lists', zh: '列表' })}>
        {LISTS.map(([to, name]) => (
          <a
            href={hrefTo(frame, to)}
            aria-current={to === path ? 'page' : isWithin(to, path) ? 'true' : undefined}
            safe
          >
            {say(name)}
          </a>
        ))}
      </nav>
    </header>
  )
}

/** As the system has it, light or dark; only the script knows the choice. */
const ThemeSwitch = ({ frame: { say } }: { readonly frame: Frame }): Html => (
  <button
    type="button"
    class="theme"
    aria-label={say({ en: 'Theme: system', zh: '主题：跟随系统' })}
    data-system={say({ en: 'Theme: system', zh: '主题：跟随系统' })}
    data-light={say({ en: 'Theme: light', zh: '主题：浅色' })}
    data-dark={say({ en: 'Theme: dark', zh: '主题：深色' })}
  ></button>
)

/** Leads to the same page in the other language. */
const LanguageSwitch = ({ frame }: { readonly frame: Frame }): Html => {
  const { root, lang, path, query } = frame
  const other = lang === 'en' ? 'zh' : 'en'
  const kept = new URLSearchParams(query)
  kept.delete('lang')
  // The home page asks the browser which language to use, unless it is told.
  if (path === '/' && other === 'en') kept.set('lang', 'en')
  const text = kept.toString()
  return (
    <a
      class="language"
      href={`${hrefTo({ root, lang: other }, path)}${text === '' ? '' : `?${text}`}`}
      hreflang={LANGUAGE_TAG[other]}
      lang={LANGUAGE_TAG[other]}
    >
      {other === 'zh' ? '中文' : 'English'}
    </a>
  )
}

const Foot = ({ frame }: { readonly frame: Frame }): Html => {
  const { site, root, lang, say, height, time, calls } = frame
  return (
    <footer class="foot">
      {height === undefined || time === undefined ? (
        ''
      ) : (
        <p safe>
          {say({
            en: `As of irreversible block ${height}, ${absolute(time)} UTC.`,
            zh: `数据截至不可逆区块 ${height}，${absolute(time)} UTC。`,
          })}
        </p>
      )}
      <p class="warn trouble" role="status"></p>
      <CallLinks frame={frame} calls={calls} />
      <p>
        <a href={`${root}docs/${lang}`} safe>
          {say({ en: 'API reference', zh: 'API 文档' })}
        </a>{' '}
        ·{' '}
        <a href={`${root}status?lang=${lang}`} safe>
          {say({ en: 'Status', zh: '运行状态' })}
        </a>{' '}
        · iostlens <span safe>{site.version}</span>
      </p>
    </footer>
  )
}
