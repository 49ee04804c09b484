import { openElastic } from '#store/elastic/open-elastic.ts'
import { identity } from '#test/store/suite/fixture.ts'
import { crashBatch, partitionEnd } from './crash-batch.ts'
import { cutBatch, staged } from './cut-batch.ts'

/**
 * A loader for the crash tests, to be killed: `bun crash-loader.ts URL PREFIX`. Takes the store over, commits a batch
 * of one block and one of three, or as many as its partition holds, the first block of each stored ahead; the second
 * one's while the first batch is committed. Lets go.
 */
const main = async ([url = '', prefix = '']: readonly string[]): Promise<void> => {
  const store = openElastic({ url, prefix, leaseMs: 300 })
  const writer = await store.takeOver(identity)
  let first = (writer.checkpoint?.height ?? -1) + 1
  let committing: Promise<void> | undefined
  for (const size of [1, 3]) {
    const last = Math.min(first + size - 1, partitionEnd(first))
    const { ahead, rest } = cutBatch(crashBatch(first, last), first + 1)
    await staged(writer, ahead)
    await committing
    committing = writer.commit(rest)
    first = last + 1
  }
  await committing
  await writer.release()
  await store.close()
}

if (import.meta.main) await main(process.argv.slice(2))
