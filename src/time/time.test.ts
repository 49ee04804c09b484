import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { awaitTimer, type Clock, createPace, systemClock } from './clock.ts'
import { joinSignals, within, withinAfterAbort } from './deadline.ts'
import { backoffMs, type RetryOptions, retry, type TryResult } from './retry.ts'

test('sleep: an abort ends the sleep at once, before or meanwhile', async () => {
  const aborted = AbortSignal.abort()
  await systemClock.sleep(1e9, aborted)
  const controller = new AbortController()
  const sleeping = systemClock.sleep(1e9, controller.signal)
  controller.abort()
  await sleeping
  expect(controller.signal.aborted).toBe(true)
})

test('after: a time beyond the maximum of a system timer does not fire at once', async () => {
  let fired = false
  const cancel = systemClock.after(2 ** 40, () => {
    fired = true
  })
  await new Promise<void>(resolve => systemClock.after(1, resolve))
  cancel()
  expect(fired).toBe(false)
})

test('sleep: an abort removes the timer, and the end removes the listener', async () => {
  const due = new Set<() => void>()
  const after: Clock['after'] = (_ms, work) => {
    due.add(work)
    return () => due.delete(work)
  }
  const controller = new AbortController()
  let listeners = 0
  const { signal } = controller
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--
    remove(...args)
  }
  const over = awaitTimer(after, 5, signal)
  expect([due.size, listeners]).toEqual([1, 1])
  for (const work of due) work()
  await over
  expect([due.size, listeners]).toEqual([0, 0])
  const aborted = awaitTimer(after, 5, signal)
  controller.abort()
  await aborted
  expect([due.size, listeners]).toEqual([0, 0])
})

const never = new Promise<never>(() => undefined)
const late = () => new Error('late')
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    value => ({ value }),
    error => ({ error }),
  )

test('within: the result or the error of the work is passed on', async () => {
  const clock = handClock()
  const limits = { ms: 10, late, clock, signal: new AbortController().signal }
  expect(await within(Promise.resolve(7), limits)).toBe(7)
  expect(await outcome(within(Promise.reject('own'), limits))).toEqual({ error: 'own' })
  expect(await within(Promise.resolve(7), {})).toBe(7)
})

test('within: the wait ends at the time limit, not a moment before', async () => {
  const clock = handClock()
  const ended: unknown[] = []
  const waiting = outcome(within(never, { ms: 10, late, clock })).then(result => ended.push(result))
  await clock.pass(9)
  expect(ended).toEqual([])
  await clock.pass(1)
  await waiting
  expect(ended).toEqual([{ error: late() }])
})

test('within: the signal ends the wait, before or meanwhile', async () => {
  const controller = new AbortController()
  const waiting = outcome(within(never, { signal: controller.signal, aborted: () => 'mine' }))
  controller.abort('its own')
  expect(await waiting).toEqual({ error: 'mine' })
  expect(await outcome(within(never, { signal: controller.signal }))).toEqual({ error: 'its own' })
})

test('within: no timer is left', async () => {
  const clock = handClock()
  await within(Promise.resolve(7), { ms: 10, late, clock })
  await clock.awaited(10, 0)
  expect(await within(Promise.resolve(8), { ms: 10, late, clock })).toBe(8)
})

test.each([[true], [false]])(
  'withinAfterAbort: the time limit starts at the abort (aborted before: %p)',
  async before => {
    const clock = handClock()
    const controller = new AbortController()
    if (before) controller.abort()
    const ended: unknown[] = []
    const limits = { signal: controller.signal, ms: 10, late, clock }
    const waiting = outcome(withinAfterAbort(never, limits)).then(result => ended.push(result))
    if (!before) {
      await clock.pass(1_000)
      controller.abort()
    }
    await clock.pass(9)
    expect(ended).toEqual([])
    await clock.pass(1)
    await waiting
    expect(ended).toEqual([{ error: late() }])
    expect(await withinAfterAbort(Promise.resolve(7), limits)).toBe(7)
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
  for (const [at, count] of [
    [2_000, 100],
    [3_000, 50_010],
  ] as const)
    pace.note(at, count)
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
