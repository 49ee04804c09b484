import { expect, test } from 'bun:test'
import { createBudget } from './connection.ts'

function spent(extra: ReturnType<typeof createBudget>): number {
  for (let count = 0; ; count++) if (!extra.spend()) return count
}

test('extraRequests: a burst is allowed, then a twentieth of the usual requests, and a few a second', () => {
  let now = 0
  const extra = createBudget(() => now)
  expect(spent(extra)).toBe(20)
  for (let usual = 0; usual < 101; usual++) extra.earn()
  expect(spent(extra)).toBe(5)
  now = 1_000
  expect(spent(extra)).toBe(5)
  now = 60_000
  expect(spent(extra)).toBe(20)
})
