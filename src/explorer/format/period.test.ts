import { expect, test } from 'bun:test'
import { dayOfDate, startOfDay } from '#chain/time.ts'
import { parsePeriod } from './period.ts'

const at = { height: 1, hash: 'block', lib: 1, time: startOfDay(dayOfDate('2026-11-21') ?? 0) + 1n }

test.each([
  ['', '2026-10-23', '2026-11-21'],
  ['end_date=2026-01-30', '2026-01-01', '2026-01-30'],
  ['start_date=2026-11-01', '2026-11-01', '2026-11-21'],
  ['start_date=2026-01-01&end_date=2026-01-02', '2026-01-01', '2026-01-02'],
  // The API counts back from the last day of the chain, and has no days after it.
  ['end_date=2027-06-01', '2026-10-23', '2027-06-01'],
  ['start_date=2027-01-01', '2027-01-01', '2027-01-01'],
  ['end_date=1970-01-05', '1970-01-01', '1970-01-05'],
  ['start_date=&end_date=', '2026-10-23', '2026-11-21'],
])('periodOf: %j is the period from %s to %s', (query, start_date, end_date) => {
  expect(parsePeriod({ at, query: new URLSearchParams(query) })).toEqual({ start_date, end_date })
})
