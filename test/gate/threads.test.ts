import { expect, test } from 'bun:test'
import { createRates } from '#gate/rate.ts'
import { forgetCounts, SharedUses, sharedCounts, useMemory } from '#gate/shared-counts.ts'
import { freeLock, Lock } from '#gate/shared-memory.ts'
import type { CountTask, Taken } from '../support/threads/count-thread.ts'

/** Limits that the threads of one process share are counted by real threads at the same moment. */

const PROGRAM = new URL('../support/threads/count-thread.ts', import.meta.url).href
const NOON = Date.UTC(2026, 10, 21, 12)

const inThread = async <T>(task: CountTask): Promise<{ said: T; worker: Worker }> => {
  const worker = new Worker(PROGRAM)
  const said = new Promise<T>((resolve, reject) => {
    worker.addEventListener('message', ({ data }) => resolve(data as T))
    worker.addEventListener('error', ({ message }) => reject(new Error(message)))
  })
  worker.postMessage(task)
  return { said: await said, worker }
}

test.each([
  ['per second', { perSecond: 137, perDay: 1_000_000 }, 137],
  ['per day', { perSecond: 1_000_000, perDay: 211 }, 211],
])('take: two threads together allow exactly the plan %s', async (_, plan, allowed) => {
  const memory = useMemory()
  const gate = new SharedArrayBuffer(4)
  const keys = Array.from({ length: 300 }, (_, at) => `key${at}`)
  const tasks = [1, 2].map(thread =>
    inThread<Taken>({
      type: 'take',
      ...{ memory, thread, plan, keys, gate, times: 200, now: NOON, threads: 2 },
    }),
  )
  const results = await Promise.all(tasks)
  for (const { worker } of results) worker.terminate()
  const sums = new Map<string, number>()
  for (const { said } of results) for (const [key, count] of said) sums.set(key, (sums.get(key) ?? 0) + count)
  expect([...sums].filter(([, sum]) => sum !== allowed)).toEqual([])
  expect(sums.size).toBe(keys.length)
  // Both threads were allowed some requests.
  expect(results.map(({ said }) => said.length > 0)).toEqual([true, true])
})

test('lock: a lock held by a dead thread is free once the thread is forgotten', async () => {
  const memory = new SharedArrayBuffer(4)
  const words = new Int32Array(memory)
  const { worker } = await inThread<string>({ type: 'hold', memory, thread: 3 })
  const closed = new Promise(resolve => worker.addEventListener('close', resolve))
  worker.terminate()
  await closed
  expect(words[0]).not.toBe(0)
  freeLock(words, 0, 2)
  expect(words[0]).not.toBe(0)
  freeLock(words, 0, 3)
  expect(new Lock(words, 0, 1).run(() => 'mine')).toBe('mine')
})

test('take: continues after the death of a thread that had locked the counts', () => {
  const memory = sharedCounts({ maxInFlight: 1, maxExports: 1, maxFeeds: 1, maxFeedsPerKey: 1 }, 2)
  const rates = createRates({ now: () => NOON, uses: new SharedUses(memory.uses, 0) })
  const key = { id: 'a', plan: { perSecond: 2, perDay: 9 } }
  expect(rates.take(key).allowed).toBe(true)
  // A thread that dies while it counts leaves this value.
  new Int32Array(memory.uses.head)[0] = 2
  forgetCounts(memory, 1, 2)
  expect([1, 2].map(() => rates.take(key).allowed)).toEqual([true, false])
})
