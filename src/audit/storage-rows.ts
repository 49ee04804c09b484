import type { AnyIndex } from '#indices/registry.ts'
import { type Node, STORAGE_PAGE } from '#node/port.ts'
import type { Audit, Published } from '#store/port.ts'
import { distinct } from './distinct.ts'
import { ABSENT, type Finding } from './finding.ts'

/** The node's storage and the stored data, at one height. */
export type NodeSides = {
  readonly node: Node
  readonly stored: Audit
  readonly found: (finding: Finding) => void
  readonly onProgress: (rows: number) => void
  readonly signal: AbortSignal
}

/** A field that differs from the node's value. */
type Difference = Pick<Finding, 'id' | 'field' | 'expected'> & {
  /** undefined: no document is stored. */
  readonly stored: string | undefined
}

export const reportDifference = (
  { found }: Pick<NodeSides, 'found'>,
  { name }: AnyIndex,
  { id, field, stored = ABSENT, expected }: Difference,
): void => found({ index: name, id, field, stored, expected, by: 'node' })

/** Thrown when the node's last irreversible block is not, or is no longer, the published one. */
export class OtherHeight extends Error {
  readonly height: number
  constructor(height: number) {
    super(`The node returns the state of block ${height}.`)
    this.height = height
  }
}

export type Row = readonly [key: string, value: string]

/**
 * All rows of a contract's maps that begin with `prefix`, without the prefix, page by page. A node may repeat
 * a key in the same page or a later one; the first key of each page repeats the last one of the page before.
 * Each key is returned once. Throws `OtherHeight`.
 */
export const storageRows = async function* (
  { node, stored, signal }: Pick<NodeSides, 'node' | 'stored' | 'signal'>,
  contract: string,
  prefix: string,
): AsyncGenerator<readonly Row[]> {
  const met = distinct()
  for (let from: string | undefined; ; ) {
    const range = { contract, type: 'MAP' as const, prefix, ...(from === undefined ? {} : { from }) }
    const page = await node.storage(range, signal)
    requireHeight(page, stored.at)
    const rows = page.rows.filter(([key]) => met.add(key))
    if (rows.length > 0) yield rows.map(([key, value]) => [key.slice(prefix.length), value] as const)
    const furthest = [...page.rows.map(([key]) => key), from ?? ''].sort().at(-1)
    // A page that does not advance would be returned forever.
    if (page.rows.length < STORAGE_PAGE || furthest === from) return
    from = furthest
  }
}

function requireHeight(page: { readonly height: number; readonly hash: string }, at: Published): void {
  if (page.height !== at.height || page.hash !== at.hash) throw new OtherHeight(page.height)
}
