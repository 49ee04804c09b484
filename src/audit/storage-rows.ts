import { type Node, STORAGE_PAGE } from '#node/port.ts'
import type { Audit, Published, View } from '#store/port.ts'
import type { Finding } from './finding.ts'

/** The node's storage against what is stored, at one height. */
export type NodeSides = {
  readonly node: Node
  readonly stored: Audit
  /** Reads what is stored of that height. */
  readonly read: <T>(work: (view: View) => Promise<T>) => Promise<T>
  readonly found: (finding: Finding) => void
  readonly onLooked: (rows: number) => void
  readonly signal: AbortSignal
}

/** Thrown when the node's last irreversible block is not, or no longer, the published one. */
export class OtherHeight extends Error {
  readonly height: number
  constructor(height: number) {
    super(`The node answers of block ${height}.`)
    this.height = height
  }
}

export type Row = readonly [key: string, value: string]

/** All rows of a contract's maps that begin with `prefix`, without it, page by page; throws `OtherHeight`. */
export const storageRows = async function* (
  { node, stored, signal }: Pick<NodeSides, 'node' | 'stored' | 'signal'>,
  contract: string,
  prefix: string,
): AsyncGenerator<readonly Row[]> {
  for (let from: string | undefined; ; ) {
    const asked = { contract, type: 'MAP' as const, prefix, ...(from === undefined ? {} : { from }) }
    const page = await node.storage(asked, signal)
    requireHeight(page, stored.at)
    // The first row of a page is the last one of the page before.
    const rows = page.rows.filter(([key]) => key !== from)
    if (rows.length === 0) return
    from = rows.at(-1)?.[0]
    yield rows.map(([key, value]) => [key.slice(prefix.length), value] as const)
    if (page.rows.length < STORAGE_PAGE) return
  }
}

const requireHeight = (page: { readonly height: number; readonly hash: string }, at: Published): void => {
  if (page.height !== at.height || page.hash !== at.hash) throw new OtherHeight(page.height)
}
