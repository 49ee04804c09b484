import { expect, test } from 'bun:test'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { backoffMs, type RetryOptions, retry, type TryResult } from './retry.ts'

/** Runs `retry` on the given results, of which the last one repeats; returns the pauses and the outcome. */
async function run(tries: readonly TryResult<string>[], retryTimeoutMs: number) {
  const clock = idleClock()
  const waits: unknown[] = []
  const options: RetryOptions = {
    clock,
    backoff: { firstMs: 100, longestMs: 400, part: { from: 1, to: 1 } },
    retryTimeoutMs,
    onWait: (why, waitMs) => waits.push([why, waitMs]),
    timeoutError: why => new Error(`tired: ${why}`),
  }
  let count = 0
  const attempt = async (): Promise<TryResult<string>> =>
    tries[Math.min(count++, tries.length - 1)] as TryResult<string>
  const outcome = await retry(options, attempt).catch((error: Error) => error.message)
  return { outcome, waits, slept: clock.slept, count }
}

test('retry: the first successful attempt ends it', async () => {
  expect(await run([{ done: 'value' }], 0)).toEqual({ outcome: 'value', waits: [], slept: [], count: 1 })
  expect(await run([{ retryReason: 'a' }, { retryReason: 'b' }, { done: 'value' }], 1_000)).toEqual({
    outcome: 'value',
    waits: [
      ['a', 100],
      ['b', 200],
    ],
    slept: [100, 200],
    count: 3,
  })
})

test('retry: pauses grow until the time limit, and the last reason is thrown', async () => {
  const { outcome, slept } = await run([{ retryReason: 'first' }, { retryReason: 'last' }], 1_000)
  expect(slept).toEqual([100, 200, 400, 400])
  expect(outcome).toBe('tired: last')
})

test('retry: progress restarts the time limit, and a fresh start the pauses, too', async () => {
  const stuck: TryResult<string> = { retryReason: 'stuck' }
  const timed = await run([stuck, stuck, { retryReason: 'further', anew: 'timeout' }, stuck], 300)
  expect(timed.slept).toEqual([100, 200, 400])
  expect(timed.outcome).toBe('tired: stuck')
  const all = await run([stuck, stuck, { retryReason: 'further', anew: 'all' }, stuck], 300)
  expect(all.slept).toEqual([100, 200, 100, 200, 400])
  const blocked = await run(
    [...Array<TryResult<string>>(9).fill({ retryReason: 'b', anew: 'timeout' }), { done: 'in' }],
    1,
  )
  expect(blocked.outcome).toBe('in')
})

test('retry: an error thrown by an attempt ends it at once', async () => {
  const clock = idleClock()
  const options = {
    clock,
    backoff: { firstMs: 1, longestMs: 1 },
    retryTimeoutMs: 1_000,
    onWait: () => undefined,
    timeoutError: () => undefined,
  }
  await expect(retry(options, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(clock.slept).toEqual([])
})

test('backoffMs: the pause doubles from the shortest to the longest, at any number of failures', () => {
  const bounds = { firstMs: 250, longestMs: 15_000, part: { from: 0.75, to: 1.25 } }
  expect([1, 2, 3, 6, 7, 8, 1_001].map(failures => backoffMs(bounds, failures, 0.5))).toEqual([
    250, 500, 1_000, 8_000, 15_000, 15_000, 15_000,
  ])
  expect([0, 0.999].map(random => Math.round(backoffMs(bounds, 4, random)))).toEqual([1_500, 2_499])
})

test('backoffMs: by default half of a pause is random', () => {
  const bounds = { firstMs: 100, longestMs: 10_000 }
  expect([0, 0.5, 0.999].map(random => Math.round(backoffMs(bounds, 2, random)))).toEqual([100, 150, 200])
})
