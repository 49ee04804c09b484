import { batchOf, identity } from '#test/store/suite/fixture.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

/** Runs `work` with a store that has a few blocks. */
export async function withBlocks(work: (target: TestElastic) => Promise<void>): Promise<void> {
  const target = openTestElastic({ retryTimeoutMs: 2_000 })
  try {
    await target.store.create()
    const writer = await target.store.takeOver(identity)
    await commitBatch(writer, batchOf(0, 3))
    await writer.release()
    await work(target)
  } finally {
    await target.destroy()
  }
}
