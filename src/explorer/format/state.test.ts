import { expect, test } from 'bun:test'
import { hasDaysOfReturn } from './state.ts'

test('hasDaysOfReturn: an annual return needs 30 days of rewards', () => {
  const now = BigInt(Date.parse('2026-11-30T12:00:00.000Z')) * 1_000_000n
  expect(hasDaysOfReturn(undefined, now)).toBe(false)
  expect(hasDaysOfReturn('2026-10-31T12:00:00.001Z', now)).toBe(false)
  expect(hasDaysOfReturn('2026-10-31T12:00:00.000Z', now)).toBe(true)
})
