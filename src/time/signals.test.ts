import { expect, test } from 'bun:test'
import { joinSignals } from './signals.ts'

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
