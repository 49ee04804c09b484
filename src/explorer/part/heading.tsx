/** @jsxImportSource @kitajs/html */
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Copied, Label } from './name.tsx'

type HeadingProps = {
  readonly visit: Visit
  /** What kind of thing the page is about. */
  readonly kind: string
  /** Its name on the chain, number or hash. */
  readonly id: string
  /** Stands in place of its name; `""`: nothing does. */
  readonly alias?: string
}

/** The heading of a page about one thing: its kind, its name to be copied, and the label that the name has. */
export const Heading = ({ visit, kind, id, alias = '' }: HeadingProps): Html => (
  <h1>
    <small safe>{kind}</small>
    {alias === '' ? <Copied visit={visit} text={id} /> : <bdi safe>{visible(alias)}</bdi>}
    <Label visit={visit} id={id} />
  </h1>
)
