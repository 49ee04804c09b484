import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { turn } from '#test/support/wait.ts'
import { FairQueue, type QueueBounds, type QueuePermit } from './queue.ts'

const WIDE: QueueBounds = { running: 100, runningOfKey: 100, waiting: 1_000, waitingOfKey: 1_000 }
const AGE_MS = 1_000
const never = new AbortController().signal

/** A queue whose work ends on request. */
function setUp(bounds: Partial<QueueBounds>) {
  const clock = handClock(0)
  const queue = new FairQueue({ ...WIDE, ...bounds }, AGE_MS, clock)
  const running: { key: string; end: () => void; permit: QueuePermit }[] = []
  const ended: string[] = []
  const run = (key: string, signal = never): void => {
    const work = async (): Promise<void> => {
      const permit = await queue.take(key, signal)
      const over = Promise.withResolvers<void>()
      running.push({ key, end: over.resolve, permit })
      await over.promise
      permit.leave()
    }
    work().catch((error: Error & { kind?: string }) => ended.push(`${key} ${error.kind ?? error.message}`))
  }
  const keys = () => running.map(({ key }) => key).join('')
  /** Ends the work that began last, that many times. */
  const endLast = async (times: number): Promise<void> => {
    for (let turn = 0; turn < times; turn++) {
      await clock.settle()
      running.at(-1)?.end()
      await clock.settle()
    }
  }
  return { clock, queue, running, ended, run, keys, endLast }
}

test('take: keys take turns, and every other turn is of the key with the fewest waiting requests', async () => {
  const { run, endLast, keys } = setUp({ running: 1 })
  run('x')
  for (const key of 'aaaaaabbcaa') run(key)
  await endLast(12)
  expect(keys()).toBe('xacbbaaaaaaa')
})

test('take: a key has at most its share of the running and of the waiting requests', async () => {
  const { run, clock, keys, ended } = setUp({ running: 4, runningOfKey: 2, waitingOfKey: 3 })
  for (const key of 'aaaaaaab') run(key)
  await clock.settle()
  expect([keys(), ended]).toEqual(['aab', ['a unavailable', 'a unavailable']])
})

test('take: a full queue drops a request of a key with more for a key with fewer, and refuses the rest', async () => {
  const { run, clock, keys, ended } = setUp({ running: 1, waiting: 4 })
  run('x')
  await clock.settle()
  for (const key of 'aaaab') run(key)
  await clock.settle()
  expect(ended).toEqual(['a unavailable'])
  for (const key of 'ca') run(key)
  await clock.settle()
  expect([keys(), ended]).toEqual(['x', ['a unavailable', 'a unavailable', 'a unavailable']])
})

test('take: a request that waited too long is refused even if nothing else happens', async () => {
  const { run, clock, ended, running } = setUp({ running: 1 })
  run('x')
  await clock.settle()
  run('a')
  await clock.pass(500)
  run('b')
  await clock.pass(499)
  expect(ended).toEqual([])
  await clock.pass(251)
  expect(ended).toEqual(['a unavailable'])
  running[0]?.end()
  await clock.settle()
  expect(running.map(({ key }) => key)).toEqual(['x', 'b'])
})

test('take: requests of a key that may start are not refused after the machine was busy for long', async () => {
  const { run, clock, ended, running } = setUp({ running: 3, runningOfKey: 2 })
  for (const key of 'aaab') run(key)
  // Time passes without a turn of the event loop.
  clock.leap(5_000)
  await clock.settle()
  expect([running.map(({ key }) => key), ended]).toEqual([['a', 'a', 'b'], ['a unavailable']])
})

test('take: the request of a client that leaves is removed from the queue and does not start', async () => {
  const { run, clock, ended, running, queue } = setUp({ running: 1, waitingOfKey: 1 })
  run('x')
  await clock.settle()
  const client = new AbortController()
  run('a', client.signal)
  client.abort(new Error('gone'))
  run('a')
  await clock.settle()
  expect(ended).toEqual(['a gone'])
  running[0]?.end()
  await clock.settle()
  expect(running).toHaveLength(2)
  await expect(queue.take('b', client.signal)).rejects.toThrow('gone')
})

test('take: a released permit goes to the next request once', async () => {
  const { run, clock, running, keys } = setUp({ running: 1 })
  for (const key of 'abc') run(key)
  await clock.settle()
  running[0]?.permit.leave()
  running[0]?.permit.leave()
  await clock.settle()
  expect(keys()).toBe('ab')
  running[0]?.end()
  await clock.settle()
  expect(keys()).toBe('ab')
})

test('take: a request starts at once while none waits', async () => {
  const { queue } = setUp({ running: 2 })
  let isLater = false
  const later = turn().then(() => {
    isLater = true
  })
  for (const key of 'ab') (await queue.take(key, never)).leave()
  expect(isLater).toBe(false)
  await later
})

test('take: work that never waits lets other tasks run regularly', async () => {
  const { queue, clock } = setUp({ running: 1 })
  let over = 0
  const work = async (): Promise<void> => {
    const permit = await queue.take('a', never)
    clock.leap(4)
    permit.leave()
    over += 1
  }
  const all = Array.from({ length: 20 }, work)
  // Some of the requests end in each turn.
  let turns = 0
  for (; over < 20; turns += 1) await turn()
  await Promise.all(all)
  expect(turns).toBeGreaterThan(3)
})
