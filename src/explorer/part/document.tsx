/** @jsxImportSource @kitajs/html */
import { LANGUAGE_TAG } from '#actions/request/options.ts'
import type { Html } from '../page.ts'
import { Top, type TopProps } from './top.tsx'

export type DocumentProps = TopProps & {
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
export const Document = ({ title, description, links, height, children, ...top }: DocumentProps): Html => {
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
