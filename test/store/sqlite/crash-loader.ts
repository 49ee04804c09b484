import { createWorkerOpener } from '#cli/threads/loading-threads.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { OpenWritingThread } from '#store/sqlite/threads/far-batches.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import { identity, seenFrom, tellingBatch } from '#test/store/suite/fixture.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'

/**
 * A loader whose batches a thread writes: `bun crash-loader.ts PATH MESSAGE MS`. It kills itself so many milliseconds
 * after the thread has got its message number MESSAGE.
 */
const [path = '', message = '', ms = ''] = process.argv.slice(2)
const worker = createWorkerOpener<ToWriting, FromWriting>(new URL('../../../src/writing-thread.ts', import.meta.url))
let left = Number(message)
const open: OpenWritingThread = listener => {
  const thread = worker(listener)
  const post = (told: ToWriting): void => {
    thread.post(told)
    left -= 1
    if (left > 0) return
    Bun.sleepSync(Number(ms))
    process.kill(process.pid, 'SIGKILL')
  }
  return { post, end: thread.end }
}
const writer = await openSqlite({ path, writing: { open, least: 0 } }).takeOver(identity)
for (let first = (writer.checkpoint?.height ?? -1) + 1; ; first += 900)
  await commitBatch(writer, seenFrom(tellingBatch(first, first + 899), 5_000))
