import type { Inventory, LastDocuments } from './inventory-record.ts'

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
