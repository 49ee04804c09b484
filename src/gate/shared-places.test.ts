import { expect, test } from 'bun:test'
import { turn, until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import type { Bounds } from './places.ts'
import { FairQueue } from './queue.ts'
import { forgetPlaces, placesMemory, SharedPlaces } from './shared-places.ts'

const WIDE: Bounds = { running: 100, runningOfKey: 100, waiting: 1_000, waitingOfKey: 1_000 }
/** Long enough that no request is refused for its age. */
const ageMs = 600_000
const MAIN = 2

/** Two queues that count together, like those of two threads. Work ends on request. */
const setUp = (bounds: Partial<Bounds>) => {
  const memory = placesMemory({ ...WIDE, ...bounds }, 2)
  const queues = [0, 1].map(thread => new FairQueue(new SharedPlaces(memory, thread), ageMs, systemClock))
  const running: { thread: number; key: string; end: () => void }[] = []
  const started: string[] = []
  const ended: string[] = []
  const run = (thread: number, key: string, signal = new AbortController().signal): void => {
    const over = Promise.withResolvers<void>()
    const work = async () => {
      const own = { thread, key, end: over.resolve }
      running.push(own)
      started.push(`${thread}${key}`)
      await over.promise
      running.splice(running.indexOf(own), 1)
    }
    const inPlace = async (): Promise<void> => {
      const place = await queues[thread]?.take(key, signal)
      try {
        await work()
      } finally {
        place?.leave()
      }
    }
    inPlace().then(
      () => ended.push(`${thread}${key} done`),
      (error: Error & { kind?: string }) => ended.push(`${thread}${key} ${error.kind ?? error.message}`),
    )
  }
  return { memory, queues, running, started, ended, run }
}

/** Runs all pending callbacks that need no event from outside. */
const quiet = async (): Promise<void> => {
  for (let times = 0; times < 50; times++) await turn()
}

test('take: two threads together run what one may, and take turns when there is no place', async () => {
  const { run, running, started, ended } = setUp({ running: 3 })
  for (const key of 'abcdef') run(0, key)
  await until(() => running.length === 3)
  for (const key of 'ABCDEF') run(1, key)
  await quiet()
  expect(started).toEqual(['0a', '0b', '0c'])
  for (let count = 3; count < 12; count++) {
    running[0]?.end()
    await until(() => started.length > count)
    expect(running.length).toBeLessThanOrEqual(3)
  }
  // The other thread has waited for longer; afterwards the threads alternate.
  expect(
    started
      .slice(3)
      .map(each => each.slice(0, 1))
      .join(''),
  ).toStartWith('1010')
  for (const { end } of [...running]) end()
  await until(() => ended.length === 12)
  expect(ended.every(each => each.endsWith('done'))).toBe(true)
})

test('take: a key has its places in all threads together', async () => {
  const { run, running, started } = setUp({ running: 10, runningOfKey: 2 })
  for (const thread of [0, 0, 1, 1]) run(thread, 'a')
  run(1, 'b')
  await until(() => started.length === 3)
  await quiet()
  expect(started.toSorted()).toEqual(['0a', '0a', '1b'])
  // The waiting thread is woken when another thread frees a place.
  running.find(({ thread }) => thread === 0)?.end()
  await until(() => started.includes('1a'))
  await quiet()
  expect(started).toHaveLength(4)
  running.find(({ thread }) => thread === 0)?.end()
  await until(() => started.length === 5)
})

test('take: as many wait in all threads together, and of a key, as may in one', async () => {
  const { run, ended, started, queues } = setUp({ running: 1, waiting: 8, waitingOfKey: 3 })
  run(0, 'x')
  await until(() => started.length === 1)
  for (const thread of [0, 1, 0, 1, 1]) run(thread, 'a')
  await quiet()
  expect(ended).toEqual(['1a unavailable', '1a unavailable'])
  for (const thread of [0, 1]) expect(() => queues[thread]?.check('a')).toThrow('too many requests')
  // A crowd on one thread fills the room that is not reserved for the other one: 8, less half of a half.
  for (const key of 'bbbcccd') run(0, key)
  await quiet()
  expect(ended.length).toBeGreaterThan(2)
  expect(ended.filter(each => each.startsWith('1')).length).toBe(2)
  const before = ended.length
  run(1, 'e')
  await quiet()
  expect(ended.length).toBe(before)
})

test('take: where each waits once, one of a key that has more waiting in the other thread gives way', async () => {
  const { run, ended, started } = setUp({ running: 1, waiting: 8, waitingOfKey: 4 })
  run(0, 'x')
  await until(() => started.length === 1)
  for (const key of 'aaabbc') run(0, key)
  for (const key of 'ba') run(1, key)
  await quiet()
  expect(ended).toEqual([])
  run(1, 'good')
  await quiet()
  expect(ended).toEqual(['1a unavailable'])
  run(0, 'd')
  await quiet()
  expect(ended).toEqual(['1a unavailable', '0a unavailable'])
})

test('take: a place that was left to a thread whose requests went away is used by the next', async () => {
  const { run, running, started, ended } = setUp({ running: 1 })
  run(0, 'a')
  await until(() => running.length === 1)
  const client = new AbortController()
  run(1, 'b', client.signal)
  await quiet()
  run(0, 'c')
  await quiet()
  client.abort(new Error('gone'))
  running[0]?.end()
  await until(() => started.includes('0c'))
  expect(ended).toContain('1b gone')
})

test('forgetPlaces: what a dead thread had taken is free again, and the others are told', async () => {
  const { run, memory, started, queues } = setUp({ running: 2, waiting: 8, waitingOfKey: 4 })
  for (const key of 'ab') run(0, key)
  await until(() => started.length === 2)
  run(1, 'a')
  await quiet()
  expect(started).toHaveLength(2)
  // The state that a thread leaves when it dies while it counts.
  new Int32Array(memory.words)[0] = 1
  forgetPlaces(memory, 0, MAIN)
  await until(() => started.includes('1a'))
  for (const key of 'efghi') run(1, key)
  await until(() => started.includes('1e'))
  expect(() => queues[1]?.check('i')).not.toThrow()
})
