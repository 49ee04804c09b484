import { expect, test } from 'bun:test'
import { copyFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorkerOpener } from '#cli/threads/loading-threads.ts'
import type { Batch, StoredKey } from '#store/port.ts'
import { openWriter } from '#store/sqlite/connection.ts'
import { putOwner } from '#store/sqlite/meta.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { OpenWritingThread } from '#store/sqlite/threads/far-batches.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import { identity, readTelling, seenFrom, tellingAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { differences, dumpSqlite } from '#test/support/stores/dump.ts'
import { loadFrom, replayed } from '#test/support/stores/loading.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { until } from '#test/support/wait.ts'

const folder = testFolder()

const worker = createWorkerOpener<ToWriting, FromWriting>(new URL('../../../src/writing-thread.ts', import.meta.url))
/** A writing thread that records the messages it gets. */
function noting(given: string[]): OpenWritingThread {
  return listener => {
    const thread = worker(listener)
    given.push('begin')
    return {
      post: told => {
        given.push(told.type)
        thread.post(told)
      },
      end: thread.end,
    }
  }
}
/**
 * The head, and the last block that is loaded: the last forty are so near to the head that no thread writes them. The
 * blocks contain every kind of transaction.
 */
const [HEAD, LAST] = [2_260, 1_300]
const KEY: StoredKey = { id: 'a', hash: 'h', name: 'n', perSecond: 1, perDay: 1, created: 1 }
/** A new store and a loader whose far batches a thread writes. */
async function openLoader(name: string, open?: OpenWritingThread) {
  const path = join(folder, `${name}.sqlite`)
  const store = openSqlite({ path, ...(open === undefined ? {} : { writing: { open, least: 0 } }) })
  await store.create()
  return { path, store, writer: await store.takeOver(identity) }
}
const far = (first: number, last: number): Batch => seenFrom(tellingBatch(first, last), 5_000)

test('a load with a thread stores the same as one without, and only long loads start a thread', async () => {
  await using node = await replayed(HEAD)
  const loadTo = async (to: number, least: number) => {
    const [path, told]: readonly [string, string[]] = [join(folder, `least-${least}.sqlite`), []]
    const store = openSqlite({ path, writing: { open: noting(told), least } })
    const batch = { documents: 100, bytes: Number.MAX_SAFE_INTEGER }
    await loadFrom(node.url, store, { to, batch, prove: 'linked' })
    await store.close()
    return { told, dump: dumpSqlite(path) }
  }
  const { told, dump } = await loadTo(LAST, 0)
  expect(told.filter(each => each === 'commit').length).toBeGreaterThan(3)
  // Near the head the main thread writes by itself again.
  expect([told[0], told.at(-1), told.filter(each => each === 'begin').length]).toEqual(['begin', 'close', 1])
  expect((await loadTo(60, 1_200)).told[0]).toBe('begin')
  const short = await loadTo(LAST, HEAD + 1)
  expect(short.told).toEqual([])
  expect(differences(dump, short.dump)).toEqual([])
})

test('a thread checkpoints its WAL once for many batches, and at its end', async () => {
  const { path, store, writer } = await openLoader('log', worker)
  const sizes = async () => [(await stat(path)).size, (await stat(`${path}-wal`)).size] as const
  const [before] = await sizes()
  await commitBatch(writer, far(0, 20_000))
  const [file, log] = await sizes()
  expect(file).toBe(before)
  // SQLite's automatic checkpoint would have run at a fourth of this size.
  expect(log).toBeGreaterThan(4_200_000)
  await writer.release()
  const [folded] = await sizes()
  expect(folded).toBeGreaterThan(4_000_000)
  await store.close()
})

const deaths: readonly (readonly [string, (told: readonly string[]) => boolean])[] = [
  ['when it has the first part of its second batch', told => told.lastIndexOf('part') > told.indexOf('commit')],
  ['when it is to end its second batch', told => told.filter(each => each === 'commit').length === 2],
]
for (const [index, [when, isTime]] of deaths.entries())
  test(`a thread that dies ${when}: the commit is unavailable, the store is unchanged, and the next take-over writes without a thread`, async () => {
    const told: string[] = []
    const mortal: OpenWritingThread = listener => {
      const thread = noting(told)(listener)
      return {
        ...thread,
        post: message => {
          thread.post(message)
          if (told.includes('commit') && isTime(told)) thread.end()
        },
      }
    }
    const { path, store, writer } = await openLoader(`dies-${index}`, mortal)
    await commitBatch(writer, far(0, 9))
    const message = expect.stringContaining(`The thread that writes to sqlite:${path} has died`)
    const died = { kind: 'unavailable', retryable: true, message }
    expect(await failureOf(commitBatch(writer, far(10, 2_000)))).toMatchObject(died)
    await writer.release()
    const again = await store.takeOver(identity)
    const from = (again.checkpoint?.height ?? -1) + 1
    // The batch is stored whole or not at all: it may have been committed before the thread died.
    expect([10, 2_001]).toContain(from)
    await commitBatch(again, far(from, from + 9))
    expect((await store.published())?.height).toBe(from + 9)
    expect(told.filter(each => each === 'begin').length).toBe(1)
    await store.close()
  })

test('a process that is killed while a thread writes leaves whole batches, and the next one continues', async () => {
  const path = join(folder, 'killed.sqlite')
  const store = openSqlite({ path })
  await store.create()
  let highest = -1
  // A message and the milliseconds after it. A batch has nine messages, the last of which commits it.
  for (const death of ['4 6', '9 0', '9 2', '8 9', '12 5', '9 1', '18 3']) {
    const command = [process.execPath, join(import.meta.dir, 'crash-loader.ts'), path, ...death.split(' ')]
    const loader = Bun.spawn(command, { stderr: 'inherit' })
    await loader.exited
    expect(loader.signalCode).toBe('SIGKILL')
    if ((await store.published()) === undefined) continue
    const got = await store.read(readTelling)
    const { height } = got.at
    expect<unknown>(got).toEqual({ ...tellingAt(height), at: seenFrom(tellingBatch(height, height), 5_000).end })
    expect([height >= highest, (height + 1) % 900]).toEqual([true, 0])
    highest = height
  }
  expect(highest).toBeGreaterThan(0)
  await store.close()
})

test('a key is added while batches follow each other', async () => {
  const told: string[] = []
  const { path, store, writer } = await openLoader('busy', noting(told))
  const other = openSqlite({ path })
  const first = commitBatch(writer, far(0, 999))
  await until(() => told.includes('part'))
  const adding = other.keys.add(KEY)
  await first
  for (let from = 1_000; Bun.peek.status(adding) === 'pending'; from += 1_000)
    await commitBatch(writer, far(from, from + 999))
  await adding
  expect((await other.keys.list()).map(({ id }) => id)).toEqual([KEY.id])
  await other.close()
  await store.close()
})

test('errors of the thread equal those of the main thread, and nothing is stored', async () => {
  const { path, store, writer } = await openLoader('errors', worker)
  await commitBatch(writer, far(0, 9))
  const { blocks: given, ...rest } = far(10, 12)
  const wrong = given.map(block => ({ ...block, time: 2n ** 63n }))
  const end = { ...rest.end, time: 2n ** 63n }
  expect(await failureOf(commitBatch(writer, { ...rest, end, blocks: wrong }))).toMatchObject({
    kind: 'defect',
    message: 'blocks.time: 9223372036854775808 is not a long that can be stored.',
  })
  const held = await failureOf(store.takeOver(identity))
  expect(held.message).toStartWith(`Another loader is writing to sqlite:${path}`)
  const other = openWriter(path, 'other')
  if (other === undefined) throw new Error('no file')
  putOwner(other, { token: 'other', pid: 1, since: 'now' })
  other.close()
  expect(await failureOf(commitBatch(writer, far(10, 12)))).toMatchObject({
    kind: 'conflict',
    retryable: true,
    message: `Another loader has taken over sqlite:${path} (process 1, since now).`,
  })
  expect((await store.published())?.height).toBe(9)
  await store.close()
})

const writers = [
  ['the main thread', undefined],
  ['a thread', worker],
] as const

test.each(writers)('a file that was replaced after the take-over gets no writes by %s', async (name, open) => {
  const { path, store, writer } = await openLoader(`replaced by ${name}`, open)
  await copyFile(path, `${path}.other`)
  await rename(`${path}.other`, path)
  expect(await failureOf(commitBatch(writer, far(0, 9)))).toMatchObject({
    kind: 'conflict',
    message: `sqlite:${path} was removed or replaced during loading.`,
  })
  await store.close()
})

test.each(writers)('one batch is written at a time by %s, and release and close wait for it', async (name, open) => {
  const { path, store, writer } = await openLoader(name, open)
  const running = commitBatch(writer, far(0, 3_000))
  expect((await failureOf(commitBatch(writer, far(0, 1)))).kind).toBe('defect')
  const closing = store.close()
  await running
  await closing
  const again = openSqlite({ path })
  expect((await again.published())?.height).toBe(3_000)
  await again.close()
})
