import type { StateIndex } from '#indices/registry.ts'
import type { StoredDocument } from '#store/port.ts'
import { type NodeSides, reportDifference } from './storage-rows.ts'

/** Stored documents that have a row in the node's storage. */
export type NodeCounted<I extends StateIndex> = {
  readonly index: I
  /** Describes these documents in a finding. */
  readonly id: string
  readonly counts: (found: StoredDocument<I>) => boolean
}

/** Compares the number of stored documents with the number of the node's rows. */
export async function compareCount<I extends StateIndex>(
  sides: NodeSides,
  { index, id, counts }: NodeCounted<I>,
  expected: number,
): Promise<void> {
  let stored = 0
  for await (const page of sides.stored.scan(index)) stored += page.filter(counts).length
  if (stored !== expected)
    reportDifference(sides, index, {
      id,
      field: 'documents',
      stored: String(stored),
      expected: String(expected),
    })
}
