import type { Visit } from '../page.ts'

/** A figure or name in a picture, with its label. */
export type Fact = readonly [name: string, value: string]

/** The content of a picture. Its texts may have any characters and any length. */
export type Drawn = {
  /** The kind of the page's subject. */
  readonly kind: string
  readonly name: string
  /** At most four facts. */
  readonly facts: readonly Fact[]
}

/** The preview picture of a page for messengers. Its words are English, since the font has only Latin letters. */
export type Picture = {
  /** The path: that of the page, and the file name; `{id}` is a placeholder for one segment. */
  readonly path: string
  /** Throws the failures of the page. */
  readonly show: (visit: Pick<Visit, 'ask' | 'id'>) => Promise<Drawn>
}

/** The file name of a picture. */
export const PICTURE = 'picture.png'

/** The size of a picture in pixels, as recommended for Open Graph. */
export const SIZE = { width: 1_200, height: 630 } as const
