/** @jsxImportSource @kitajs/html */
import { lastingHref } from '../links.ts'
import type { Html } from '../page.ts'
import type { Frame } from './frame.ts'

type OpenGraphProps = {
  readonly frame: Frame
  /** The canonical one of the page. */
  readonly path: string
  readonly title: string
  readonly description: string
}

/** The size of the preview picture in pixels, as recommended for Open Graph. */
const SIZE = { width: 1_200, height: 630 } as const

/**
 * The Open Graph tags of a page, for messengers and other sites. The facts are in title and description; the picture is
 * the same for all pages.
 */
export const OpenGraph = ({ frame, path, title, description }: OpenGraphProps): Html => {
  const { say, lang, isOriginKnown } = frame
  const site = say({ en: 'IOST explorer', zh: 'IOST 浏览器' })
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={site} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:locale" content={lang === 'zh' ? 'zh_CN' : 'en_US'} />
      {/* The address must be absolute. Without a height, since the page is the same at every height. */}
      {isOriginKnown && (
        <>
          <meta property="og:url" content={lastingHref(frame, path)} />
          <meta property="og:image" content={`${frame.origin}assets/${frame.site.assets.preview}`} />
          <meta property="og:image:width" content={String(SIZE.width)} />
          <meta property="og:image:height" content={String(SIZE.height)} />
          <meta property="og:image:alt" content={site} />
        </>
      )}
      <meta name="twitter:card" content={isOriginKnown ? 'summary_large_image' : 'summary'} />
    </>
  )
}
