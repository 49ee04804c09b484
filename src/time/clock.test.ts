import { expect, test } from 'bun:test'
import { awaitTimer, type Clock, systemClock } from './clock.ts'

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
