/** @jsxImportSource @kitajs/html */
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Copied, Label } from './name.tsx'

type HeadingProps = {
  readonly visit: Visit
  /** The kind of the page's subject. */
  readonly kind: string
  /** The subject's name on the chain, number or hash. */
  readonly id: string
  /** A text in place of the name; `""`: none. */
  readonly alias?: string
}

/** The heading of a page about one thing: its kind, its name with a copy button, and its label. */
export const Heading = ({ visit, kind, id, alias = '' }: HeadingProps): Html => (
  <h1>
    <small safe>{kind}</small>
    {alias === '' ? <Copied visit={visit} text={id} /> : <bdi safe>{visible(alias)}</bdi>}
    <Label visit={visit} id={id} />
  </h1>
)
