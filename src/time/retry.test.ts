import { expect, test } from 'bun:test'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { type Retry, retry, type Try } from './retry.ts'

/** Runs `retry` on the given results, of which the last one repeats; returns the pauses and the outcome. */
const run = async (tries: readonly Try<string>[], retryTimeoutMs: number) => {
  const clock = idleClock()
  const waits: unknown[] = []
  const options: Retry = {
    clock,
    backoff: { firstMs: 100, longestMs: 400, part: { from: 1, to: 1 } },
    retryTimeoutMs,
    onWait: (why, waitMs) => waits.push([why, waitMs]),
    tired: why => new Error(`tired: ${why}`),
  }
  let count = 0
  const attempt = async (): Promise<Try<string>> => tries[Math.min(count++, tries.length - 1)] as Try<string>
  const outcome = await retry(options, attempt).catch((error: Error) => error.message)
  return { outcome, waits, slept: clock.slept, count }
}

test('retry: the first try that is done ends it', async () => {
  expect(await run([{ done: 'value' }], 0)).toEqual({ outcome: 'value', waits: [], slept: [], count: 1 })
  expect(await run([{ again: 'a' }, { again: 'b' }, { done: 'value' }], 1_000)).toEqual({
    outcome: 'value',
    waits: [
      ['a', 100],
      ['b', 200],
    ],
    slept: [100, 200],
    count: 3,
  })
})

test('retry: pauses grow until the time is over; the last reason is thrown', async () => {
  const { outcome, slept } = await run([{ again: 'first' }, { again: 'last' }], 1_000)
  expect(slept).toEqual([100, 200, 400, 400])
  expect(outcome).toBe('tired: last')
})

test('retry: progress begins the time anew, and where all begins anew the pauses too', async () => {
  const stuck: Try<string> = { again: 'stuck' }
  const timed = await run([stuck, stuck, { again: 'further', anew: 'timeout' }, stuck], 300)
  expect(timed.slept).toEqual([100, 200, 400])
  expect(timed.outcome).toBe('tired: stuck')
  const all = await run([stuck, stuck, { again: 'further', anew: 'all' }, stuck], 300)
  expect(all.slept).toEqual([100, 200, 100, 200, 400])
  const blocked = await run(
    [...Array<Try<string>>(9).fill({ again: 'b', anew: 'timeout' }), { done: 'in' }],
    1,
  )
  expect(blocked.outcome).toBe('in')
})

test('retry: what a try throws ends it at once', async () => {
  const clock = idleClock()
  const options = {
    clock,
    backoff: { firstMs: 1, longestMs: 1 },
    retryTimeoutMs: 1_000,
    onWait: () => undefined,
    tired: () => undefined,
  }
  await expect(retry(options, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(clock.slept).toEqual([])
})
