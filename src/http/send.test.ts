import { expect, test } from 'bun:test'
import { sampling } from './send.ts'

test('sampling: the first of every N is sampled', () => {
  const isLogged = sampling(3)
  expect(Array.from({ length: 7 }, isLogged)).toEqual([true, false, false, true, false, false, true])
  const all = sampling(1)
  expect(Array.from({ length: 3 }, all)).toEqual([true, true, true])
  expect(Array.from({ length: 3 }, sampling(0))).toEqual([false, false, false])
})
