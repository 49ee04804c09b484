/** @jsxImportSource @kitajs/html */
import { lastingHref } from '../links.ts'
import type { Html } from '../page.ts'
import { SIZE } from '../picture/picture.ts'
import { pictureOf } from '../picture/pictures.ts'
import type { Frame } from './frame.ts'

type OpenGraphProps = {
  readonly frame: Frame
  /** The canonical one of the page. */
  readonly path: string
  readonly title: string
  readonly description: string
}

/** The Open Graph tags of a page, for messengers and other sites: title, description and language. */
export const OpenGraph = ({ frame, path, title, description }: OpenGraphProps): Html => {
  const { say, lang, isOriginKnown } = frame
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={say({ en: 'IOST explorer', zh: 'IOST 浏览器' })} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:locale" content={lang === 'zh' ? 'zh_CN' : 'en_US'} />
      {/* The address must be absolute. Without a height, since the page is the same at every height. */}
      {isOriginKnown && (
        <>
          <meta property="og:url" content={lastingHref(frame, path)} />
          <Picture frame={frame} path={path} title={title} />
        </>
      )}
      <meta name="twitter:card" content={isOriginKnown ? 'summary_large_image' : 'summary'} />
    </>
  )
}

/** A page that is not found, or not known yet, has the picture of the home page. */
const Picture = ({ frame, path, title }: Omit<OpenGraphProps, 'description'>): Html => (
  <>
    <meta
      property="og:image"
      content={lastingHref({ ...frame, lang: 'en' }, pictureOf(frame.height === undefined ? '/' : path))}
    />
    <meta property="og:image:width" content={String(SIZE.width)} />
    <meta property="og:image:height" content={String(SIZE.height)} />
    <meta property="og:image:alt" content={title} />
  </>
)
