import { expect, test } from 'bun:test'
import { createBudget } from './http.ts'

const KIB = 1024
const FREE = 256 * KIB

test('createBudget: all answers together keep one limit', () => {
  const budget = createBudget(1_000 * KIB)
  const [one, two] = [budget.reserve(), budget.reserve()]
  expect(one.grow(FREE + 600 * KIB)).toBe(true)
  expect(two.grow(FREE + 500 * KIB)).toBe(false)
  expect(two.grow(FREE + 400 * KIB)).toBe(true)
  one.release()
  one.release()
  expect(two.grow(600 * KIB)).toBe(true)
  // A small answer always has room.
  expect(one.grow(FREE)).toBe(true)
  expect(one.grow(1)).toBe(false)
})
