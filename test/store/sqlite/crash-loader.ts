import { createWorkerOpener } from '#cli/threads/loading-threads.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import { identity, seenFrom, tellingBatch } from '#test/store/suite/fixture.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'

/**
 * A loader for crash tests: `bun crash-loader.ts PATH SIZES BEHIND`, whose node is BEHIND blocks ahead.
 * Batches far from the head are written by a thread. It continues from the checkpoint with batches of the
 * given sizes, repeated, and prints the height of each batch before ("begin") and after ("end") its commit.
 */
const [path = '', sizes = '1', behind = ''] = process.argv.slice(2)
const writing = createWorkerOpener<ToWriting, FromWriting>(new URL('../../../src/writing-thread.ts', import.meta.url))
const writer = await openSqlite({ path, writing: { open: writing, least: 0 } }).takeOver(identity)
process.stdout.write(`from ${writer.checkpoint?.height ?? -1}\n`)
const list = sizes.split(',').map(Number)
for (let round = 0; ; round += 1) {
  const first = (writer.checkpoint?.height ?? -1) + 1
  const last = first + (list[round % list.length] ?? 1) - 1
  process.stdout.write(`begin ${last}\n`)
  await commitBatch(writer, seenFrom(tellingBatch(first, last), Number(behind)))
  process.stdout.write(`end ${last}\n`)
}
