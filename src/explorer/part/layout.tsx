/** @jsxImportSource @kitajs/html */
import { LANGUAGE_TAG } from '#actions/request/options.ts'
import type { Text } from '#actions/text.ts'
import { absolute } from '../format/time.ts'
import { oneLine } from '../format/visible.ts'
import { hrefTo, lastingHref } from '../links.ts'
import type { Html, PageContent } from '../page.ts'
import { CallLinks } from './calls.tsx'
import { Crumbs } from './crumbs.tsx'
import { Document } from './document.tsx'
import type { Frame } from './frame.ts'
import { LiveSign } from './live-sign.tsx'
import { OpenGraph } from './open-graph.tsx'

/** Maximum length of a title and of a description: more than search engines show. */
const MOST_TITLE = 120
const MOST_DESCRIPTION = 300

/** A complete page of the explorer. */
export const Layout = ({ frame, shown }: { readonly frame: Frame; readonly shown: PageContent }): Html => {
  const { title: full, description: told = full, body, path = frame.path, asOf, isMinor = false } = shown
  const [title, description] = [oneLine(full, MOST_TITLE), oneLine(told, MOST_DESCRIPTION)]
  return (
    <Document
      shell={frame}
      other={otherHref(frame)}
      sign={<LiveSign frame={frame} />}
      isTimed
      title={`${title} · IOST`}
      description={description}
      links={
        <>
          <OpenGraph frame={frame} path={path} title={title} description={description} />
          {isMinor && <meta name="robots" content="noindex" />}
          <link rel="canonical" href={lastingHref(frame, path)} />
          {(['en', 'zh'] as const).map(lang => (
            <link rel="alternate" hreflang={LANGUAGE_TAG[lang]} href={lastingHref({ ...frame, lang }, path)} />
          ))}
        </>
      }
      height={frame.height}
    >
      <main id="main">
        <Crumbs frame={frame} />
        {body}
      </main>
      <Foot frame={frame} asOf={asOf} />
    </Document>
  )
}

/** The same page in the other language. */
const otherHref = ({ root, lang, path, query }: Frame): string => {
  const other = lang === 'en' ? 'zh' : 'en'
  const kept = new URLSearchParams(query)
  kept.delete('lang')
  // The home page redirects to the browser's language unless `lang` is given.
  if (path === '/' && other === 'en') kept.set('lang', 'en')
  const text = kept.toString()
  return `${hrefTo({ root, lang: other }, path)}${text === '' ? '' : `?${text}`}`
}

const Foot = ({ frame, asOf }: { readonly frame: Frame; readonly asOf: Text | undefined }): Html => {
  const { site, say, height, time, calls } = frame
  return (
    <footer class="foot">
      {height !== undefined && time !== undefined && (
        <p safe>
          {say(
            asOf ?? {
              en: `As of irreversible block ${height}, ${absolute(time)} UTC.`,
              zh: `数据截至不可逆区块 ${height}，${absolute(time)} UTC。`,
            },
          )}
        </p>
      )}
      <p class="warn trouble" role="status"></p>
      <CallLinks frame={frame} calls={calls} />
      <p>
        iostlens <span safe>{site.version}</span>
      </p>
    </footer>
  )
}
