import { expect, test } from 'bun:test'
import { growingBounds } from './growing-bounds.ts'

test('growingBounds: a small batch first, each four times as large as the one before, up to the full ones', () => {
  const full = { documents: 20_000, bytes: 8_000_000, changes: 15_000, first: 100 }
  const next = growingBounds(full)
  const bounds = Array.from({ length: 6 }, next)
  expect(bounds.map(({ documents }) => documents)).toEqual([100, 400, 1_600, 6_400, 20_000, 20_000])
  expect(bounds[0]).toEqual({ documents: 100, bytes: 40_000, changes: 75 })
  expect(bounds[4]).toEqual(full)
  const chunk = { documents: 10, bytes: 100 }
  expect(growingBounds({ documents: 200, bytes: 64, chunk, first: 100 })()).toEqual({
    documents: 100,
    bytes: 32,
    chunk,
  })
})

test('growingBounds: bounds below the first batch are full ones', () => {
  const full = { documents: 10, bytes: 100, first: 100 }
  expect(growingBounds(full)()).toEqual(full)
})

test('growingBounds: batches are alike where small ones cost as much as large ones', () => {
  const full = { documents: 20_000, bytes: 100 }
  const next = growingBounds(full)
  expect([next(), next()]).toEqual([full, full])
})
