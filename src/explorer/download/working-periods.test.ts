import { expect, test } from 'bun:test'
import { dayOfDate, startOfDay } from '#chain/time.ts'
import { getNextDate, usualPeriods } from '../format/period.ts'
import type { Visit } from '../page.ts'
import { blockFile } from './downloads.ts'
import { MAX_ROWS } from './file.ts'
import { findWorkingPeriods } from './working-periods.ts'

/** A list with so many rows on each day, and how often it was asked for a count. */
function listOf(rows: Readonly<Record<string, number>>) {
  const counted = { times: 0 }
  const countFrom = (from: string, to = '9999') =>
    Object.entries(rows).reduce((sum, [day, count]) => sum + (day >= from && day <= to ? count : 0), 0)
  const visit = {
    ...{ lang: 'en', site: {}, query: new URLSearchParams('from=2026-11-21&start_block=3') },
    at: { height: 7, hash: '', time: startOfDay(dayOfDate('2026-11-21') ?? 0) + 1n },
    peek: async (_action, { start_date = '', end_date } = {}) => {
      counted.times += 1
      return { total: countFrom(start_date, end_date) }
    },
  } as Partial<Visit> as Visit
  return { visit, counted, countFrom }
}

const FILE = { file: blockFile, id: '' }

test.each([
  [{}],
  [{ '2026-11-21': 1 }],
  [{ '2026-11-21': MAX_ROWS }],
  [{ '2026-11-21': MAX_ROWS + 1, '2025-03-01': 7, '2026-10-01': 7 }],
  [{ '2026-11-14': 1, '2026-11-15': MAX_ROWS, '2026-10-31': MAX_ROWS, '2025-12-31': MAX_ROWS }],
  [{ '2024-12-31': 9, '2026-01-01': 9, '2026-10-23': MAX_ROWS - 9, '2026-10-22': 9 }],
  [{ '2026-09-30': MAX_ROWS + 1, '2026-10-01': 1, '2026-10-31': 1 }],
])('findWorkingPeriods: the periods with rows that fit into a file, counted once: %j', async rows => {
  const { visit, counted, countFrom } = listOf(rows)
  const working = usualPeriods(visit).filter(({ from, to }) => {
    const count = countFrom(from, to)
    return count > 0 && count <= MAX_ROWS
  })
  expect(await findWorkingPeriods(visit, FILE)).toEqual(working)
  const first = counted.times
  expect(first).toBeLessThanOrEqual(7)
  // A later block adds a row of the last day, and no day is counted anew.
  const later = { ...visit, at: { ...visit.at, height: 8 } }
  await findWorkingPeriods(later, FILE)
  expect(counted.times).toBe(first + 1)
  // A repair takes blocks back.
  await findWorkingPeriods({ ...visit, at: { ...visit.at, height: 6 } }, FILE)
  expect(counted.times).toBe(2 * first + 1)
})

test('dateAfter: the next day, also in another month and year', () => {
  expect(['2026-11-21', '2026-11-30', '2026-12-31', '2024-02-28'].map(getNextDate)).toEqual([
    ...['2026-11-22', '2026-12-01', '2027-01-01', '2024-02-29'],
  ])
})
