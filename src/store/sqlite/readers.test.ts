import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { wealth } from '#indices/wealth.ts'
import type { View } from '#store/port.ts'
import { batchOf, identity, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/store/suite/harness.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { openSqlite } from './open-sqlite.ts'
import { createPool, createReaders, holdView } from './readers.ts'

const { store, path, destroy } = await temporarySqlite()
beforeAll(async () => {
  await store.create()
  await commitBatch(await store.takeOver(identity), batchOf(0, 3))
})
afterAll(destroy)
const never = () => new Promise<never>(() => {})

describe('readers', () => {
  test('a view used after its read is refused, because it would show another snapshot', async () => {
    const kept = await store.read(async view => [view])
    const [view] = kept
    expect(await failureOf(view?.get(blocks, blockId(0)) ?? never())).toMatchObject({
      kind: 'defect',
      message: 'A view was used after its read had ended.',
    })
  })

  test('endless reading is stopped by its deadline, and other reads run meanwhile', async () => {
    let others = 0
    const endless = kindOf(
      store.read(
        async view => {
          for (;;) await view.get(blocks, blockId(0))
        },
        { signal: AbortSignal.timeout(50) },
      ),
    )
    const rest = (async () => {
      while (Bun.peek.status(endless) === 'pending') {
        await store.read(view => view.get(blocks, blockId(1)))
        others += 1
        await new Promise<void>(resolve => setImmediate(resolve))
      }
    })()
    expect(await endless).toBe('deadline')
    await rest
    expect(others).toBeGreaterThan(0)
  })

  test('work that continues after its deadline cannot read any more', async () => {
    const stop = new AbortController()
    const leaked = Promise.withResolvers<View>()
    const read = kindOf(
      store.read(
        view => {
          leaked.resolve(view)
          return never()
        },
        { signal: stop.signal },
      ),
    )
    const view = await leaked.promise
    expect((await view.get(blocks, blockId(1)))?.height).toBe(1)
    stop.abort()
    expect(await read).toBe('deadline')
    expect(await kindOf(view.get(blocks, blockId(1)))).toBe('deadline')
  })

  test('close: running and waiting reads end', async () => {
    const other = openSqlite({ path: path, readonly: true })
    const begun = Promise.withResolvers<void>()
    const hanging = Array.from({ length: 50 }, () =>
      failureOf(
        other.read(() => {
          begun.resolve()
          return never()
        }),
      ),
    )
    await begun.promise
    await other.close()
    const ends = (await Promise.all(hanging)).map(({ kind, retryable }) => `${kind} ${retryable}`)
    expect(new Set(ends)).toEqual(new Set(['unavailable false']))
    expect(await store.published()).toEqual(publishedAt(3))
  })
})

function counted(size: number, failing: () => boolean = () => false) {
  let made = 0
  const disposed: number[] = []
  const pool = createPool<number>({
    size,
    open: () => {
      if (failing()) throw new Failure('unavailable', 'not now')
      made += 1
      return made
    },
    dispose: item => disposed.push(item),
    closed: () => new Failure('unavailable', 'closed'),
  })
  return { pool, disposed }
}

describe('createPool', () => {
  test('returned connections are lent again before a new one is opened, and never more than the size', async () => {
    const { pool } = counted(2)
    const [one, two] = [await pool.borrow(), await pool.borrow()]
    const third = pool.borrow()
    const fourth = pool.borrow()
    pool.giveBack(two)
    expect([one, two, await third]).toEqual([1, 2, 2])
    pool.drop(one)
    expect(await fourth).toBe(3)
  })

  test('a place is free again after an open failed', async () => {
    let broken = true
    const { pool } = counted(1, () => broken)
    const waiting = [kindOf(pool.borrow()), kindOf(pool.borrow()), kindOf(pool.borrow())]
    expect(await Promise.all(waiting)).toEqual(['unavailable', 'unavailable', 'unavailable'])
    broken = false
    expect(await pool.borrow()).toBe(1)
  })

  test('deadline: an aborted waiter is skipped, and an expired one never waits', async () => {
    const { pool } = counted(1)
    const held = await pool.borrow()
    const stop = new AbortController()
    const given = failureOf(pool.borrow(stop.signal))
    const next = pool.borrow()
    stop.abort()
    expect((await given).kind).toBe('deadline')
    expect(await kindOf(pool.borrow(AbortSignal.abort()))).toBe('deadline')
    pool.giveBack(held)
    expect(await next).toBe(1)
  })

  test('close: waiting and new callers are refused, and idle and returned connections closed', async () => {
    const { pool, disposed } = counted(2)
    const [one, two] = [await pool.borrow(), await pool.borrow()]
    pool.giveBack(two)
    await pool.borrow()
    const waiting = failureOf(pool.borrow())
    pool.close()
    expect((await waiting).message).toBe('closed')
    expect((await failureOf(pool.borrow())).message).toBe('closed')
    expect(disposed).toEqual([])
    pool.giveBack(one)
    expect(disposed).toEqual([1])
  })
})

test('holdView: a WAL that is too long ends the view, and no view is held until it is short again', async () => {
  const { store, path, destroy } = await temporarySqlite()
  await store.create()
  const writer = await store.takeOver(identity)
  await commitBatch(writer, tellingBatch(0, 0))
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
  await destroy()
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
