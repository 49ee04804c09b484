import { expect, test } from 'bun:test'
import { ordered } from './sorts.tsx'

test('ordered: rows are sorted by all digits of a figure, largest first, and equal ones keep their order', () => {
  const rows = ['1.5', '-0.5', '9007199254740993.00000001', '10', '9007199254740993', '-0.25', '10.0'].map(
    (figure, at) => ({ figure, at }),
  )
  const sorted = ordered(rows, { by: 'x', name: { en: '', zh: '' }, figure: ({ figure }) => figure })
  expect(sorted.map(({ at }) => at)).toEqual([2, 4, 3, 6, 0, 5, 1])
})
