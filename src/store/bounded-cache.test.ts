import { expect, test } from 'bun:test'
import { boundedCache, countDocCharacters } from './bounded-cache.ts'

test('boundedCache: the cache is bounded in characters, and drops the oldest entry first', () => {
  const cache = boundedCache<string>(10_000)
  for (let n = 0; n < 100; n++) cache.put(`${n}`, 'x', 800)
  const kept = Array.from({ length: 100 }, (_, n) => n).filter(n => cache.get(`${n}`) !== undefined)
  expect(kept).toEqual([90, 91, 92, 93, 94, 95, 96, 97, 98, 99])
  cache.put('large', 'x', 10_000)
  expect(cache.get('large')).toBeUndefined()
  expect(cache.get('99')).toEqual(expect.objectContaining({ value: 'x' }))
})

test('the size of a value: texts count their characters, other values eight, and lists and objects their content, too', () => {
  expect(countDocCharacters({ a: 'four', b: 4n, c: [1], d: [['five.', { e: null }]] })).toBe(4 + 8 + 16 + 37)
  expect(countDocCharacters(undefined)).toBe(0)
})
