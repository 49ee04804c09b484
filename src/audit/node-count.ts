import type { StateIndex } from '#indices/registry.ts'
import type { Found } from '#store/port.ts'
import type { NodeSides } from './storage-rows.ts'

/** Documents that have a row in the node's storage. */
export type Counted<I extends StateIndex> = {
  readonly index: I
  /** Says in a finding which ones they are. */
  readonly id: string
  readonly counts: (found: Found<I>) => boolean
}

/** Compares how many documents are stored with how many rows the node has. */
export const compareCount = async <I extends StateIndex>(
  sides: NodeSides,
  { index, id, counts }: Counted<I>,
  expected: number,
): Promise<void> => {
  let stored = 0
  for await (const page of sides.stored.scan(index)) stored += page.filter(counts).length
  if (stored === expected) return
  sides.found({
    index: index.name,
    id,
    field: 'documents',
    stored: String(stored),
    expected: String(expected),
    by: 'node',
  })
}
