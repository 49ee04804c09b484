/** @jsxImportSource @kitajs/html */
import { lastingHref } from '../links.ts'
import type { Html } from '../page.ts'
import type { Frame } from './frame.ts'

type OpenGraphProps = {
  readonly frame: Frame
  readonly title: string
  readonly description: string
}

/** What a messenger or another site shows of a page that somebody sends: title, description and language. */
export const OpenGraph = ({ frame, title, description }: OpenGraphProps): Html => {
  const { say, lang, path, isOriginKnown } = frame
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={say({ en: 'IOST explorer', zh: 'IOST 浏览器' })} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:locale" content={lang === 'zh' ? 'zh_CN' : 'en_US'} />
      {isOriginKnown ? (
        <meta property="og:image" content={new URL('apple-touch-icon.png', frame.origin).href} />
      ) : (
        ''
      )}
      {/* An address must be absolute, and the page of a height is the same page. */}
      {isOriginKnown ? <meta property="og:url" content={lastingHref(frame, path)} /> : ''}
      <meta name="twitter:card" content="summary" />
    </>
  )
}
