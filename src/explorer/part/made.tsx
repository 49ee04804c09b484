/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'
import { Name } from './name.tsx'
import { When } from './time.tsx'

type MadeProps = {
  readonly visit: Visit
  /** ISO-8601 UTC. */
  readonly iso: string
  /** Hash of the transaction; `""`: the genesis block created the thing without one. */
  readonly tx: string
}

/** The time of a thing's creation, and the transaction. */
export const Made = ({ visit, iso, tx }: MadeProps): Html => (
  <>
    <When visit={visit} iso={iso} /> {tx !== '' && <Name visit={visit} kind="tx" id={tx} />}
  </>
)
