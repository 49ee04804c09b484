import { lists } from '#indices/list.ts'
import { pledgeId, pledges } from '#indices/pledge.ts'
import type { StateChange } from '#indices/registry.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import type { Batch } from '#store/port.ts'
import { identity, listAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { commitBatch, historyOf, restOf } from '#test/support/stores/commit-batch.ts'
import { openTestState } from '#test/support/stores/test-state.ts'

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

/** A block of these batches has three documents of history. */
const TWO_BLOCKS = { documents: 6, bytes: Number.POSITIVE_INFINITY }

/**
 * A loader for the crash tests, which is killed: `bun crash-loader.ts URL PREFIX`. It takes the store over,
 * commits two batches of three blocks, or of as many as their partition holds, and releases the store. The
 * first two blocks of each batch are written ahead, those of the second batch during the commit of the first.
 */
async function main([url = '', prefix = '']: readonly string[]): Promise<void> {
  const store = openElastic({
    url,
    prefix,
    leaseMs: 300,
    chunk: TWO_BLOCKS,
    openStateFile: of => openTestState(prefix, of),
  })
  const writer = await store.takeOver(identity)
  let first = (writer.checkpoint?.height ?? -1) + 1
  let committing: Promise<void> | undefined
  for (let batches = 0; batches < 2; batches++) {
    const last = Math.min(first + 2, partitionEnd(first))
    const batch = crashBatch(first, last)
    await writer.append(historyOf(batch, first, first + 1))
    await committing
    committing = commitBatch(writer, restOf(batch, first + 2))
    first = last + 1
  }
  await committing
  await writer.release()
  await store.close()
}

if (import.meta.main) void main(process.argv.slice(2))
