import { expect, spyOn, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { awaitTimer, type Clock, createPace, systemClock } from './clock.ts'
import { awaitLimited, awaitLimitedAfterAbort, joinSignals } from './deadline.ts'
import { backoffMs, type RetryOptions, retry, type TryResult } from './retry.ts'

test('after: a time beyond the maximum of a system timer does not fire at once', async () => {
  let fired = false
  const cancel = systemClock.after(2 ** 40, () => {
    fired = true
  })
  await new Promise<void>(resolve => systemClock.after(1, resolve))
  cancel()
  expect(fired).toBe(false)
})

test('sleep: an abort ends it at once, before or meanwhile; the end removes the timer and the listener', async () => {
  await systemClock.sleep(1e9, AbortSignal.abort())
  const due = new Set<() => void>()
  const after: Clock['after'] = (_ms, work) => {
    due.add(work)
    return () => due.delete(work)
  }
  const controller = new AbortController()
  const { signal } = controller
  const [added, removed] = [spyOn(signal, 'addEventListener'), spyOn(signal, 'removeEventListener')]
  const left = () => [due.size, added.mock.calls.length - removed.mock.calls.length]
  const over = awaitTimer(after, 5, signal)
  expect(left()).toEqual([1, 1])
  for (const work of due) work()
  await over
  expect(left()).toEqual([0, 0])
  const aborted = awaitTimer(after, 5, signal)
  controller.abort()
  await aborted
  expect(left()).toEqual([0, 0])
})

const never = new Promise<never>(() => undefined)
const late = () => new Error('late')

test('awaitLimited: the result or the error of the work is passed on, and no timer is left', async () => {
  const clock = handClock()
  const limits = { ms: 10, late, clock, signal: new AbortController().signal }
  expect(await awaitLimited(Promise.resolve(7), limits)).toBe(7)
  await clock.awaited(10, 0)
  await expect(awaitLimited(Promise.reject('own'), limits)).rejects.toBe('own')
  expect(await awaitLimited(Promise.resolve(7), {})).toBe(7)
})

/** Passes the time up to the limit of 10 ms. The wait must end exactly then. */
async function requireLate(clock: ReturnType<typeof handClock>, waiting: Promise<unknown>): Promise<void> {
  const ended = waiting.catch((error: unknown) => error)
  await clock.pass(9)
  expect(Bun.peek.status(ended)).toBe('pending')
  await clock.pass(1)
  expect(await ended).toEqual(late())
}

test('awaitLimited: the wait ends at the time limit, not a moment before', async () => {
  const clock = handClock()
  await requireLate(clock, awaitLimited(never, { ms: 10, late, clock }))
})

test('awaitLimited: the signal ends the wait, before or meanwhile', async () => {
  const controller = new AbortController()
  const waiting = awaitLimited(never, { signal: controller.signal, aborted: () => 'mine' })
  controller.abort('its own')
  await expect(waiting).rejects.toBe('mine')
  await expect(awaitLimited(never, { signal: controller.signal })).rejects.toBe('its own')
})

test.each([true, false])(
  'awaitLimitedAfterAbort: the time limit starts at the abort (aborted before: %p)',
  async before => {
    const clock = handClock()
    const controller = new AbortController()
    if (before) controller.abort()
    const limits = { signal: controller.signal, ms: 10, late, clock }
    const waiting = awaitLimitedAfterAbort(never, limits)
    if (!before) await clock.pass(1_000)
    controller.abort()
    await requireLate(clock, waiting)
    expect(await awaitLimitedAfterAbort(Promise.resolve(7), limits)).toBe(7)
  },
)

test('joinSignals: the joined signal aborts with the reason of the first one, before or after', () => {
  const first = new AbortController()
  const second = new AbortController()
  const joined = joinSignals(undefined, first.signal, second.signal)
  expect(joined.signal.aborted).toBe(false)
  second.abort('second')
  first.abort('first')
  expect(joined.signal.reason).toBe('second')
  expect(joinSignals(first.signal).signal.reason).toBe('first')
})

test('joinSignals: a released signal no longer follows the others but can be aborted itself', () => {
  const controller = new AbortController()
  const joined = joinSignals(controller.signal)
  joined.release()
  controller.abort('later')
  expect(joined.signal.aborted).toBe(false)
  joined.abort('own')
  expect(joined.signal.reason).toBe('own')
})

test('perSecond: the rate is that between the first and the last note, 0 before there are two', () => {
  const pace = createPace()
  expect([pace.perSecond(), pace.spanMs()]).toEqual([0, 0])
  pace.note(1_000, 10)
  expect(pace.perSecond()).toBe(0)
  pace.note(2_000, 100)
  pace.note(3_000, 50_010)
  expect([pace.perSecond(), pace.spanMs()]).toEqual([25_000, 2_000])
})

test('perSecond: notes older than the window are dropped, except the last two', () => {
  const pace = createPace(10_000)
  pace.note(0, 0)
  pace.note(5_000, 1_000)
  pace.note(15_000, 2_000)
  expect(pace.perSecond()).toBe(100)
  pace.note(60_000, 2_450)
  expect(pace.perSecond()).toBe(10)
})

test('perSecond: a decreasing count has started again, and the rate is never negative', () => {
  for (const windowMs of [10_000, undefined]) {
    const pace = createPace(windowMs)
    pace.note(0, 0)
    pace.note(1_000, 5_000)
    pace.note(2_000, 100)
    expect(pace.perSecond()).toBe(0)
    pace.note(3_000, 400)
    expect(pace.perSecond()).toBe(300)
  }
})

/** Runs `retry` on the given results, of which the last one repeats; without any, attempts throw. */
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
  const attempt = async (): Promise<TryResult<string>> => {
    const result = tries[Math.min(count++, tries.length - 1)]
    if (result === undefined) throw new Error('refused')
    return result
  }
  const outcome = await retry(options, attempt).catch((error: Error) => error.message)
  return { outcome, waits, slept: clock.slept, count }
}

test('retry: the first successful attempt ends it', async () => {
  expect(await run([{ done: 'value' }], 0)).toEqual({ outcome: 'value', waits: [], slept: [], count: 1 })
  const { waits, ...rest } = await run([{ retryReason: 'a' }, { retryReason: 'b' }, { done: 'value' }], 1_000)
  expect(waits).toEqual(Object.entries({ a: 100, b: 200 }))
  expect(rest).toEqual({ outcome: 'value', slept: [100, 200], count: 3 })
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
  const blocked = Array<TryResult<string>>(9).fill({ retryReason: 'b', anew: 'timeout' })
  expect((await run([...blocked, { done: 'in' }], 1)).outcome).toBe('in')
})

test('retry: an error thrown by an attempt ends it at once', async () => {
  const { outcome, slept } = await run([], 1_000)
  expect([outcome, slept]).toEqual(['refused', []])
})

test('backoffMs: the pause doubles from the shortest to the longest, and by default half of it is random', () => {
  const bounds = { firstMs: 250, longestMs: 15_000, part: { from: 0.75, to: 1.25 } }
  expect([1, 2, 3, 6, 7, 8, 1_001].map(failures => backoffMs(bounds, failures, 0.5))).toEqual([
    250, 500, 1_000, 8_000, 15_000, 15_000, 15_000,
  ])
  expect([0, 0.999].map(random => Math.round(backoffMs(bounds, 4, random)))).toEqual([1_500, 2_499])
  const usual = { firstMs: 100, longestMs: 10_000 }
  expect([0, 0.5, 0.999].map(random => Math.round(backoffMs(usual, 2, random)))).toEqual([100, 150, 200])
})
