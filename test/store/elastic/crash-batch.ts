import { lists } from '#indices/list.ts'
import { pledgeId, pledges } from '#indices/pledge.ts'
import type { Change } from '#indices/registry.ts'
import type { Batch } from '#store/port.ts'
import { listAt, tellingBatch } from '#test/store/suite/fixture.ts'

/** Blocks of a partition: so few that each run of the crash tests' loader opens one. */
const BLOCKS = 6

/** Last block of the partition of a block: no batch goes beyond it. */
export const partitionEnd = (height: number): number => height - (height % BLOCKS) + BLOCKS - 1

/**
 * A batch of the crash tests, within a partition: besides what every batch writes anew, one document for each block that
 * no other batch touches, so that a batch that was committed but not applied leaves a gap for good.
 */
export const crashBatch = (first: number, last: number): Batch => {
  const batch = tellingBatch(first, last)
  const partition = Math.floor(first / BLOCKS)
  const starts = Array.from({ length: partition + 1 }, (_, at) => [at, at * BLOCKS + 1] as const)
  const own = batch.blocks.map(({ height }): Change => {
    const doc = { pledger: 'p', beneficiary: `b${height}`, amount: 1n, seq: height }
    return { index: pledges, doc: { id: pledgeId(doc.pledger, doc.beneficiary), ...doc } }
  })
  const others = batch.changes.filter(({ index }) => index !== lists)
  const list: Change = {
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
