import { describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { failureOf, kindOf } from '#test/store/suite/harness.ts'
import { createPool } from './pool.ts'

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
