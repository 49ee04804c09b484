import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { wealth } from '#indices/wealth.ts'
import type { View } from '#store/port.ts'
import { batchOf, identity, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { turn, until } from '#test/support/wait.ts'
import { openSqlite } from './open-sqlite.ts'
import { createReaders, holdView } from './readers.ts'

const { store, path, destroy } = await temporarySqlite()
beforeAll(async () => {
  await store.create()
  await commitBatch(await store.takeOver(identity), batchOf(0, 3))
})
afterAll(destroy)
const never = () => new Promise<never>(() => {})

test('readers: a view used after its read is refused, because it would show another snapshot', async () => {
  const [view] = await store.read(async each => [each])
  expect(await kindOf(view?.get(blocks, blockId(0)) ?? never())).toBe('defect')
})

test('readers: work that continues after its deadline cannot read any more', async () => {
  const stop = new AbortController()
  const leaked = Promise.withResolvers<View>()
  const leak = (view: View) => {
    leaked.resolve(view)
    return never()
  }
  const read = kindOf(store.read(leak, { signal: stop.signal }))
  const view = await leaked.promise
  expect((await view.get(blocks, blockId(1)))?.height).toBe(1)
  stop.abort()
  expect(await read).toBe('deadline')
  expect(await kindOf(view.get(blocks, blockId(1)))).toBe('deadline')
})

test('readers: endless reading is stopped by its deadline, and other work runs meanwhile', async () => {
  const stop = new AbortController()
  const endless = async (view: View): Promise<never> => {
    for (;;) await view.get(blocks, blockId(1))
  }
  const read = kindOf(store.read(endless, { signal: stop.signal }))
  await turn()
  stop.abort()
  expect(await read).toBe('deadline')
})

test('readers: beyond the connections reads wait in order, an aborted one is skipped, and the end refuses those that wait', async () => {
  const readers = createReaders(path, 'sqlite:test')
  const ends: (() => void)[] = []
  const read = () => readers.read(() => new Promise<void>(resolve => ends.push(resolve)))
  const running = Array.from({ length: 64 }, read)
  const settled = Promise.allSettled(running)
  await until(() => ends.length === 64)
  const stop = new AbortController()
  const aborted = kindOf(readers.read(never, { signal: stop.signal }))
  const next = read()
  const begun = Promise.withResolvers<void>()
  const last = failureOf(
    readers.read(() => {
      begun.resolve()
      return never()
    }),
  )
  stop.abort()
  expect(await aborted).toBe('deadline')
  ends[0]?.()
  await running[0]
  await until(() => ends.length === 65)
  ends[64]?.()
  await next
  await begun.promise
  const waiting = failureOf(read())
  readers.close()
  for (const failure of [await last, await waiting])
    expect(failure).toMatchObject({ kind: 'unavailable', retryable: false })
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', ...Array(63).fill('rejected')])
})

test('readers: close: running and waiting reads end', async () => {
  const other = openSqlite({ path: path, readonly: true })
  const begun = Promise.withResolvers<void>()
  const hang = () => {
    begun.resolve()
    return never()
  }
  const hanging = Array.from({ length: 50 }, () => failureOf(other.read(hang)))
  await begun.promise
  await other.close()
  for (const failure of await Promise.all(hanging))
    expect(failure).toMatchObject({ kind: 'unavailable', retryable: false })
  expect(await store.published()).toEqual(publishedAt(3))
})

test('readers: a file that cannot be opened takes no place from later reads', async () => {
  const readers = createReaders(dirname(path), 'sqlite:test')
  for (let count = 0; count <= 64; count += 1)
    expect((await failureOf(readers.read(never))).message).toBe('sqlite:test is not a file.')
})

test('holdView: a WAL that is too long ends the view, and no view is held until it is short again', async () => {
  await using own = await temporarySqlite()
  await own.store.create()
  const writer = await own.store.takeOver(identity)
  await commitBatch(writer, tellingBatch(0, 0))
  const { path } = own
  const readers = createReaders(path, 'sqlite:test')
  const place = { path, name: 'sqlite:test', signal: undefined, mostLogBytes: 1_000_000 }
  const held = await holdView(readers, place)
  const page = () => held.view.page(wealth, 'richest', { offset: 0, limit: 5 })
  expect((await page()).map(({ total }) => total)).toEqual([1n, 1n])
  for (let height = 1; height < 400; height += 1) await commitBatch(writer, batchOf(height, height))
  const refused = { kind: 'unavailable', message: expect.stringContaining('its log has') }
  expect(await failureOf(page())).toMatchObject(refused)
  expect(await failureOf(holdView(readers, place))).toMatchObject(refused)
  held.close()
  readers.close()
  await writer.release()
})

test('holdView: as many views as lists may be sent whole, and all waiting requests, leave a reader for others', async () => {
  const readers = createReaders(path, 'sqlite:test')
  const place = { path, name: 'sqlite:test', signal: undefined }
  const held = await Promise.all(Array.from({ length: 48 }, () => holdView(readers, place)))
  const waiting = Promise.allSettled(Array.from({ length: 46 }, () => readers.read(never)))
  expect(await readers.read(async view => view.at.height)).toBe(3)
  for (const each of held) each.close()
  readers.close()
  for (const { status } of await waiting) expect(status).toBe('rejected')
})
