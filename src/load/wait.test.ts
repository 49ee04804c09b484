import { expect, test } from 'bun:test'
import { pauseMs, wait } from './wait.ts'

test('pauseMs: doubles from a quarter of a second to a quarter of a minute', () => {
  expect([0, 1, 2, 5, 6, 7, 1000].map(attempt => pauseMs(attempt, () => 0.5))).toEqual([
    250, 500, 1000, 8000, 15000, 15000, 15000,
  ])
  expect([0, 0.999].map(r => Math.round(pauseMs(3, () => r)))).toEqual([1500, 2499])
})

test('wait: ends at once when aborted, before or meanwhile', async () => {
  const aborted = AbortSignal.abort()
  await wait(1e9, aborted)
  const controller = new AbortController()
  const waiting = wait(1e9, controller.signal)
  controller.abort()
  await waiting
  expect(controller.signal.aborted).toBe(true)
})
