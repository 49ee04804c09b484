import { expect, test } from 'bun:test'
import { exactIso, formatDate, highestPossible, parseDay, parseIso, toDay, toIso } from './time.ts'

test.each<readonly [bigint, string]>([
  [0n, '1970-01-01T00:00:00.000Z'],
  [1795249532500320384n, '2026-11-21T08:25:32.500Z'],
  [999999n, '1970-01-01T00:00:00.000Z'],
  [1999999n, '1970-01-01T00:00:00.001Z'],
  [-1n, '1969-12-31T23:59:59.999Z'],
  [-1000000n, '1969-12-31T23:59:59.999Z'],
  [1541847845000000000n, '2018-11-10T11:04:05.000Z'],
  [2n ** 63n - 1n, '2262-04-11T23:47:16.854Z'],
  [-(2n ** 63n), '1677-09-21T00:12:43.145Z'],
])('toIso: %p ns, cut to milliseconds', (ns, iso) => {
  expect(toIso(ns)).toBe(iso)
})

test('toIso: a time beyond the range of dates throws', () => {
  expect(toIso(8_640_000_000_000_000_000_000n)).toBe('+275760-09-13T00:00:00.000Z')
  expect(() => toIso(8_640_000_000_000_001_000_000n)).toThrow(
    'Time 8640000000000001000000 ns is outside the range of dates.',
  )
})

test.each([
  [0n, '1970-01-01T00:00:00Z'],
  [1n, '1970-01-01T00:00:00.000000001Z'],
  [1795249532500320384n, '2026-11-21T08:25:32.500320384Z'],
  [1795249532500000000n, '2026-11-21T08:25:32.5Z'],
  [1795249532999999999n, '2026-11-21T08:25:32.999999999Z'],
  [-1n, '1969-12-31T23:59:59.999999999Z'],
  [-62167219200000000000n, '0000-01-01T00:00:00Z'],
] as const)('exactIso: %p ns has as many fractional digits as it needs', (ns, iso) => {
  expect(exactIso(ns)).toBe(iso)
  expect(parseIso(iso)?.first).toBe(ns)
})

test.each<readonly [string, bigint, bigint]>([
  ['1970-01-01T00:00:00Z', 0n, 999_999_999n],
  ['2026-11-21T08:25:32.500Z', 1795249532500000000n, 1795249532500999999n],
  ['2026-11-21T08:25:32.5Z', 1795249532500000000n, 1795249532599999999n],
  ['2026-11-21T08:25:32.500320384Z', 1795249532500320384n, 1795249532500320384n],
  ['2026-11-21T08:25:32.5003Z', 1795249532500300000n, 1795249532500399999n],
  ['2026-11-21T08:25:32.000000000Z', 1795249532000000000n, 1795249532000000000n],
  ['2024-02-29T23:59:59Z', 1709251199000000000n, 1709251199999999999n],
  ['2026-11-21T08:25:32.50032038Z', 1795249532500320380n, 1795249532500320389n],
  ['1969-12-31T23:59:59.999999999Z', -1n, -1n],
  ['0000-01-01T00:00:00Z', -62167219200000000000n, -62167219199000000001n],
  ['9999-12-31T23:59:59.999Z', 253402300799999000000n, 253402300799999999999n],
])('parseIso: %p covers the whole of its last given unit', (iso, first, last) => {
  expect(parseIso(iso)).toEqual({ first, last })
})

test('parseIso: other texts are no times', () => {
  const dates = ['2026-02-29', '2026-02-30', '2026-13-01', '2026-00-10', '+02026-11-21'].map(
    date => `${date}T00:00:00Z`,
  )
  const times = ['24:00:00', '08:60:00', '23:59:60', '08:25', '08:25:32.', '08:25:32,5', '08:25:32.1234567890']
  const others = ['', '2026-11-21', '2026-11-21T08:25:32', '2026-11-21T08:25:32z', '2026-11-21 08:25:32Z']
  const more = ['2026-11-21T08:25:32+00:00', ' 2026-11-21T08:25:32Z', '2026-11-21T08:25:32Z\n']
  const all = [...dates, ...times.map(time => `2026-11-21T${time}Z`), ...others, ...more]
  expect(all.filter(text => parseIso(text) !== undefined)).toEqual([])
})

test('toDay, formatDate, parseDay: days are UTC days since 1970', () => {
  expect(toDay(86_400_000_000_000n * 20_000n - 1n)).toBe(19_999)
  expect(toDay(86_400_000_000_000n * 20_000n)).toBe(20_000)
  for (const [day, date] of [
    [0, '1970-01-01'],
    [19_782, '2024-02-29'],
    [106_751, '2262-04-11'],
  ] as const) {
    expect(formatDate(day)).toBe(date)
    expect(parseDay(date)).toBe(day)
  }
  for (const text of ['2023-02-29', '2024-13-01', '2024-1-1', '2024-02-29T', '0000-00-00', ''])
    expect([text, parseDay(text)]).toEqual([text, undefined])
})

test('highestPossible: two blocks a second, and a thousand more for clock differences; none before the chain', () => {
  const start = 1_600_000_000
  const known = { height: 100, time: BigInt(start) * 1_000_000_000n }
  expect(highestPossible(known, start * 1_000)).toBe(1_100)
  expect(highestPossible(known, (start + 3_600) * 1_000)).toBe(100 + 7_200 + 1_000)
  expect(highestPossible(known, start * 1_000 - 1)).toBe(Number.POSITIVE_INFINITY)
})
