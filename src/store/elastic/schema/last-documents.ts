import type { Inventory } from './inventory.ts'

/** The document of an index that was written after all others, and its version; a document of history has version 1. */
export type LastDocument = readonly [id: string, version: number]

/** By name of index; absent: nothing was written to it yet, or by a version that did not record it. */
export type LastDocuments = Readonly<Record<string, LastDocument>>

const NONE: LastDocuments = {}

/**
 * What every copy of an index must show to be used at a published height. A copy that shows the last document has all
 * that was acknowledged before it (`write/in-order.ts`).
 */
export const lastDocuments = ({
  batch,
  inventory,
}: {
  readonly batch: string
  readonly inventory?: Inventory | undefined
}): LastDocuments => (inventory?.batch === batch ? (inventory.last ?? NONE) : NONE)
