import type { Visit } from '../page.ts'

/** A figure or name in a picture, under what it is. */
export type Fact = readonly [name: string, value: string]

/** The content of a picture: texts of any letters and any length. */
export type Drawn = {
  /** What kind of thing it is of. */
  readonly kind: string
  readonly name: string
  /** Four at most. */
  readonly facts: readonly Fact[]
}

/** The picture that messengers show of a page. Its words are English: the font has Latin letters alone. */
export type Picture = {
  /** Its path: that of its page, and the name of the file; `{id}` stands for one segment. */
  readonly path: string
  /** Throws what the page throws. */
  readonly show: (visit: Pick<Visit, 'ask' | 'id'>) => Promise<Drawn>
}

/** The name of the file of a picture. */
export const PICTURE = 'picture.png'

/** Its sides in pixels, as sites ask for it (Open Graph). */
export const SIZE = { width: 1_200, height: 630 } as const
