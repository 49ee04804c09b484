import { expect, test } from 'bun:test'
import { pageOf, rankOf } from './pager.tsx'

test('pageOf: a whole number in the address is the page, otherwise the first page; the last one if it is too high', () => {
  const rows = Array.from({ length: 60 }, (_, at) => at)
  const first = (page: string): number | undefined => pageOf({ query: new URLSearchParams({ page }) }, rows)[0]
  expect(['1', '2', '3', '4', '1.5', '1e1', '0', '-1', '', 'x'].map(first)).toEqual([0, 25, 50, 50, 0, 0, 0, 0, 0, 0])
  expect(rankOf({ query: new URLSearchParams('page=2.5') }, 0)).toBe(1)
})
