import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { joinSignals, within, withinAfterAbort } from './deadline.ts'

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
