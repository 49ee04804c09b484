import { expect, test } from 'bun:test'
import { copyFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorkerOpener } from '#cli/threads/loading-threads.ts'
import { blocks } from '#indices/block.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, stateIndices } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import type { Batch, StoredKey } from '#store/port.ts'
import { openWriter } from '#store/sqlite/connection.ts'
import { putOwner } from '#store/sqlite/meta.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { OpenWritingThread } from '#store/sqlite/threads/far-batches.ts'
import { packDocuments, unpackDocuments } from '#store/sqlite/threads/messages.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import { identity, seenFrom, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { type Dump, differences, dumpSqlite } from '#test/support/stores/dump.ts'
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
/** The head, and the last block that is loaded: the last forty are so near to the head that no thread writes them. */
const [HEAD, LAST] = [1_740, 780]
const KEY: StoredKey = { id: 'a', hash: 'h', name: 'n', perSecond: 1, perDay: 1, created: 1 }
const far = (first: number, last: number): Batch => seenFrom(tellingBatch(first, last), 5_000)

test('message: every document of the recorded chain arrives unchanged, and values that a field cannot contain are refused', async () => {
  // Without SOAK, the blocks that contain every kind of transaction.
  const { documents, state } = deriveChain((await recordedBlocks()).slice(0, SOAK ? undefined : 1_300))
  const all: readonly (readonly [AnyIndex, readonly object[]])[] = [
    ...stateIndices.map(index => [index, state.all(index)] as const),
    [blocks, documents.map(({ block }) => block)],
    [transactions, documents.flatMap(each => each.transactions)],
    [records, documents.flatMap(each => each.records)],
  ]
  for (const [index, docs] of all) {
    const part = packDocuments(index, docs)
    if (part === undefined) throw new Error(`${index.name} does not cross`)
    expect([...unpackDocuments(index, structuredClone(part))]).toEqual([...docs])
  }
  const [record] = documents.flatMap(each => each.records)
  for (const wrong of [
    { time: 2n ** 63n },
    { time: 1 },
    { places: [1] },
    { height: 0.5 },
    { data: 7 },
    { overflow: 1 },
    { contract: undefined },
  ])
    expect(packDocuments(records, [{ ...record, ...wrong }])).toBeUndefined()
})

test('a load with a thread stores the same as one without, and only long loads start a thread', async () => {
  const node = await replayed(HEAD)
  const loads: { readonly told: readonly string[]; readonly dump: Dump }[] = []
  try {
    for (const least of [0, 1_200, HEAD + 1]) {
      const [path, told]: readonly [string, string[]] = [join(folder, `least-${least}.sqlite`), []]
      const store = openSqlite({ path, writing: { open: noting(told), least } })
      await loadFrom(node.url, store, { to: LAST, batch: { documents: 100, bytes: Number.MAX_SAFE_INTEGER } })
      await store.close()
      loads.push({ told, dump: dumpSqlite(path) })
    }
  } finally {
    await node.stop()
  }
  const [always, long, short] = loads
  for (const told of [always?.told, long?.told]) {
    expect(told?.filter(each => each === 'commit').length).toBeGreaterThan(3)
    // Near the head the main thread writes by itself again.
    expect([told?.[0], told?.at(-1), told?.filter(each => each === 'begin').length]).toEqual(['begin', 'close', 1])
  }
  expect(short?.told).toEqual([])
  for (const each of [always, long]) expect(differences(each?.dump ?? new Map(), short?.dump ?? new Map())).toEqual([])
})

test('a thread checkpoints its WAL once for many batches, and at its end', async () => {
  const path = join(folder, 'log.sqlite')
  const store = openSqlite({ path, writing: { open: noting([]), least: 0 } })
  await store.create()
  const writer = await store.takeOver(identity)
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
    const path = join(folder, `dies-${index}.sqlite`)
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
    const store = openSqlite({ path, writing: { open: mortal, least: 0 } })
    await store.create()
    const writer = await store.takeOver(identity)
    await commitBatch(writer, far(0, 9))
    const died = await failureOf(commitBatch(writer, far(10, 2_000)))
    expect([died.kind, died.retryable]).toEqual(['unavailable', true])
    expect(died.message).toStartWith(`The thread that writes to sqlite:${path} has died`)
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

test('a key is added while batches follow each other', async () => {
  const path = join(folder, 'busy.sqlite')
  const told: string[] = []
  const store = openSqlite({ path, writing: { open: noting(told), least: 0 } })
  await store.create()
  const writer = await store.takeOver(identity)
  const other = openSqlite({ path })
  const first = commitBatch(writer, far(0, 999))
  await until(() => told.includes('part'))
  let isAdded = false
  const adding = other.keys.add(KEY).finally(() => {
    isAdded = true
  })
  await first
  for (let from = 1_000; !isAdded; from += 1_000) await commitBatch(writer, far(from, from + 999))
  await adding
  expect((await other.keys.list()).map(({ id }) => id)).toEqual([KEY.id])
  await other.close()
  await store.close()
})

test('errors of the thread equal those of the main thread, and nothing is stored', async () => {
  const path = join(folder, 'errors.sqlite')
  const store = openSqlite({ path, writing: { open: worker, least: 0 } })
  await store.create()
  const writer = await store.takeOver(identity)
  await commitBatch(writer, far(0, 9))
  const { blocks: given, ...rest } = far(10, 12)
  const [first, ...others] = given
  if (first === undefined) throw new Error('no block')
  const wrong = await failureOf(commitBatch(writer, { ...rest, blocks: [{ ...first, time: 2n ** 63n }, ...others] }))
  expect([wrong.kind, wrong.message]).toEqual([
    'defect',
    'blocks.time: 9223372036854775808 is not a long that can be stored.',
  ])
  const held = (await store.takeOver(identity).catch((error: unknown) => error)) as { message: string }
  expect(held.message).toStartWith(`Another loader is writing to sqlite:${path}`)
  const other = openWriter(path, 'other')
  if (other === undefined) throw new Error('no file')
  putOwner(other, { token: 'other', pid: 1, since: 'now' })
  other.close()
  const taken = await failureOf(commitBatch(writer, far(10, 12)))
  expect([taken.kind, taken.retryable, taken.message]).toEqual([
    'conflict',
    true,
    `Another loader has taken over sqlite:${path} (process 1, since now).`,
  ])
  expect((await store.published())?.height).toBe(9)
  await store.close()
})

test('a file that was replaced after the take-over gets no writes', async () => {
  const path = join(folder, 'replaced.sqlite')
  const store = openSqlite({ path, writing: { open: worker, least: 0 } })
  await store.create()
  const writer = await store.takeOver(identity)
  await copyFile(path, `${path}.other`)
  await rename(`${path}.other`, path)
  const refused = await failureOf(commitBatch(writer, far(0, 9)))
  expect([refused.kind, refused.message]).toEqual([
    'conflict',
    `sqlite:${path} was removed or replaced during loading.`,
  ])
  await store.close()
})

test('one batch is written at a time, and release waits for the one in the thread', async () => {
  const path = join(folder, 'one.sqlite')
  const store = openSqlite({ path, writing: { open: worker, least: 0 } })
  await store.create()
  const writer = await store.takeOver(identity)
  const running = commitBatch(writer, far(0, 3_000))
  expect((await failureOf(commitBatch(writer, far(0, 1)))).kind).toBe('defect')
  const closing = store.close()
  await running
  await closing
  const again = openSqlite({ path })
  expect((await again.published())?.height).toBe(3_000)
  await again.close()
})
