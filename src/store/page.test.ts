import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ordinalsFor } from './page.ts'

const cases = [
  [
    { total: 7, page: 1, size: 3, sort: 'desc' },
    { first: 5, last: 7 },
  ],
  [
    { total: 7, page: 3, size: 3, sort: 'desc' },
    { first: 1, last: 1 },
  ],
  [{ total: 7, page: 4, size: 3, sort: 'desc' }, undefined],
  [
    { total: 7, page: 1, size: 3, sort: 'asc' },
    { first: 1, last: 3 },
  ],
  [
    { total: 7, page: 3, size: 3, sort: 'asc' },
    { first: 7, last: 7 },
  ],
  [{ total: 7, page: 4, size: 3, sort: 'asc' }, undefined],
  [
    { total: 6, page: 2, size: 3, sort: 'desc' },
    { first: 1, last: 3 },
  ],
  [{ total: 6, page: 3, size: 3, sort: 'asc' }, undefined],
  [{ total: 0, page: 1, size: 20, sort: 'desc' }, undefined],
  [
    { total: 1, page: 1, size: 500, sort: 'desc' },
    { first: 1, last: 1 },
  ],
  [
    { total: 2 ** 32 - 1, page: 2 ** 32 - 1, size: 1, sort: 'desc' },
    { first: 1, last: 1 },
  ],
  [{ total: 7, page: Number.MAX_SAFE_INTEGER, size: 500, sort: 'asc' }, undefined],
  [{ total: 7, page: 1e19, size: 1, sort: 'desc' }, undefined],
] as const

const list = fc.record({
  total: fc.integer({ min: 0, max: 300 }),
  size: fc.integer({ min: 1, max: 70 }),
  sort: fc.constantFrom('asc' as const, 'desc' as const),
})

describe('ordinalsFor', () => {
  for (const [input, expected] of cases)
    test(`${input.sort} page ${input.page} of ${input.size} in ${input.total} rows`, () => {
      expect(ordinalsFor(input)).toEqual(expected)
    })

  test('pages put together are the whole list, each full but the last', () => {
    fc.assert(
      fc.property(list, ({ total, size, sort }) => {
        const rows: number[] = []
        for (let page = 1; ; page += 1) {
          const ordinals = ordinalsFor({ total, page, size, sort })
          if (ordinals === undefined) break
          const { first, last } = ordinals
          const shown = Array.from({ length: last - first + 1 }, (_, at) => first + at)
          expect(shown.length).toBe(Math.min(size, total - rows.length))
          rows.push(...(sort === 'asc' ? shown : shown.toReversed()))
        }
        const all = Array.from({ length: total }, (_, at) => at + 1)
        expect(rows).toEqual(sort === 'asc' ? all : all.toReversed())
      }),
    )
  })

  test('asc: a page that was full stays as it was when the list grows', () => {
    fc.assert(
      fc.property(list, fc.integer({ min: 1, max: 10 }), fc.nat(1000), ({ total, size }, page, more) => {
        const before = ordinalsFor({ total, page, size, sort: 'asc' })
        fc.pre(before !== undefined && before.last - before.first + 1 === size)
        expect(ordinalsFor({ total: total + more, page, size, sort: 'asc' })).toEqual(before)
      }),
    )
  })

  test('huge lists and pages: ordinals are whole, within the list, and equal to bigint arithmetic', () => {
    const huge = fc.record({
      total: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
      page: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      size: fc.integer({ min: 1, max: 500 }),
    })
    fc.assert(
      fc.property(huge, fc.nat(), ({ total, page, size }, shift) => {
        for (const at of [page, 1 + (shift % Math.ceil(total / size))]) {
          const [n, p, s] = [BigInt(total), BigInt(at), BigInt(size)]
          const last = n - (p - 1n) * s
          const first = n - p * s + 1n < 1n ? 1n : n - p * s + 1n
          expect(ordinalsFor({ total, page: at, size, sort: 'desc' })).toEqual(
            last < 1n ? undefined : { first: Number(first), last: Number(last) },
          )
        }
      }),
    )
  })
})
