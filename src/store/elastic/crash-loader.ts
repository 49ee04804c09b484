import { identity } from '#store/suite/fixture.ts'
import { crashBatch, partitionEnd } from './crash-batch.ts'
import { openElastic } from './open-elastic.ts'

/**
 * A loader for the crash tests, to be killed: `bun crash-loader.ts URL PREFIX`. Takes the store over, commits a batch
 * of one block and one of three, or as many as its partition holds, lets go.
 */
const main = async ([url = '', prefix = '']: readonly string[]): Promise<void> => {
  const store = openElastic({ url, prefix, leaseMs: 300 })
  const writer = await store.takeOver(identity)
  for (const size of [1, 3]) {
    const first = (writer.checkpoint?.height ?? -1) + 1
    await writer.commit(crashBatch(first, Math.min(first + size - 1, partitionEnd(first))))
  }
  await writer.release()
  await store.close()
}

if (import.meta.main) await main(process.argv.slice(2))
