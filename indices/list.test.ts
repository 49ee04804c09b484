import { expect, test } from 'bun:test'
import { listAndOrdinal, toPlace } from './list.ts'

test('a place: a place is of its own list, and no other list begins within it', () => {
  const last = 2 ** 32 - 1
  for (const [list, ordinal] of [
    [1, 1],
    [1, last],
    [2_000_000_000, last],
  ] as const)
    expect(listAndOrdinal(toPlace(list, ordinal))).toEqual({ list, ordinal })
  for (const ordinal of [-1, last + 1, 2 ** 40]) expect(() => toPlace(1, ordinal)).toThrow(RangeError)
})
