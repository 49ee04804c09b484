import { lists } from '#indices/list.ts'
import { pledgeId, pledges } from '#indices/pledge.ts'
import type { StateChange } from '#indices/registry.ts'
import type { Batch } from '#store/port.ts'
import { listAt, tellingBatch } from '#test/store/suite/fixture.ts'

/** Blocks per partition: so few that each run of the crash tests' loader opens one. */
const BLOCKS = 6

/** The last block of a block's partition. No batch crosses it. */
export const partitionEnd = (height: number): number => height - (height % BLOCKS) + BLOCKS - 1

/**
 * A batch of the crash tests within a partition. Besides the documents that every batch rewrites, it has one document
 * per block that no other batch touches. A batch that was committed but not applied therefore leaves a permanent gap.
 */
export function crashBatch(first: number, last: number): Batch {
  const batch = tellingBatch(first, last)
  const partition = Math.floor(first / BLOCKS)
  const starts = Array.from({ length: partition + 1 }, (_, at) => [at, at * BLOCKS + 1] as const)
  const own = batch.blocks.map(({ height }): StateChange => {
    const doc = { pledger: 'p', beneficiary: `b${height}`, amount: 1n, seq: height }
    return { index: pledges, doc: { id: pledgeId(doc.pledger, doc.beneficiary), ...doc } }
  })
  const others = batch.changes.filter(({ index }) => index !== lists)
  const list: StateChange = {
    index: lists,
    doc: { ...listAt(last), starts },
    ...(first === 0 ? {} : { before: listAt(first - 1) }),
  }
  return {
    ...batch,
    filling: { partition, documents: last - partition * BLOCKS + 1 },
    changes: [...others, list, ...own],
  }
}
