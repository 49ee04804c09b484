import { openElastic } from '#store/elastic/open-elastic.ts'
import { identity } from '#test/store/suite/fixture.ts'
import { commitBatch, historyOf, restOf } from '#test/support/stores/commit-batch.ts'
import { openTestState } from '#test/support/stores/test-state.ts'
import { crashBatch, partitionEnd } from './crash-batch.ts'

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
