import { expect, test } from 'bun:test'
import { createBudget } from './budget.ts'

const KIB = 1024
const FREE = 256 * KIB

test('hold: threads that record their held bytes together keep one limit', () => {
  const memory = new SharedArrayBuffer(8)
  const [one, two] = [0, 1].map(thread => createBudget(1_000 * KIB, { memory, thread }).reserve())
  expect(one?.grow(FREE + 600 * KIB)).toBe(true)
  expect(two?.grow(FREE + 500 * KIB)).toBe(false)
  expect(two?.grow(FREE + 400 * KIB)).toBe(true)
  one?.release()
  one?.release()
  expect(two?.grow(600 * KIB)).toBe(true)
  // A small answer always has room.
  expect(one?.grow(FREE)).toBe(true)
  expect(one?.grow(1)).toBe(false)
})
