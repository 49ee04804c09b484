import { expect, test } from 'bun:test'
import { createAxis, datesLabelled, extentOfLevels, formatAxisLabels } from './axis.ts'

const labels = (least: number, most: number, { isCount = false, lang = 'en' as 'en' | 'zh' } = {}) =>
  formatAxisLabels(createAxis({ least, most }, isCount), lang)

test('an axis has labels at round values that enclose the whole plot', () => {
  expect(labels(0, 7)).toEqual(['0', '5', '10'])
  expect(labels(0, 21_337)).toEqual(['0', '10K', '20K', '30K'])
  expect(labels(0, 21_337, { lang: 'zh' })).toEqual(['0', '1万', '2万', '3万'])
  expect(labels(-3, 14)).toEqual(['−10', '0', '10', '20'])
  expect(labels(0, 0.000_12)).toEqual(['0', '0.00005', '0.0001', '0.00015'])
  expect(labels(89_999_990_000, 90_000_000_100)).toEqual([
    ...['89,999,990,000', '89,999,995,000', '90,000,000,000', '90,000,005,000'],
  ])
  expect(labels(59_985_300, 59_985_306, { lang: 'zh' })).toEqual([
    '59,985,300',
    '59,985,302',
    '59,985,304',
    '59,985,306',
  ])
  expect(labels(242_989.8, 242_990.3)).toEqual(['242,989.8', '242,990', '242,990.2', '242,990.4'])
  for (const [least, most] of [
    [0, 1],
    [0, 3e20],
    [0.1, 0.3],
    [-7e-9, 5e9],
    [999, 1001],
  ] as const) {
    const { ticks, step } = createAxis({ least, most }, false)
    expect([(ticks[0] ?? NaN) <= least, (ticks.at(-1) ?? NaN) >= most]).toEqual([true, true])
    expect([ticks.length >= 2, ticks.length <= 6, step > 0]).toEqual([true, true, true])
    expect(new Set(formatAxisLabels({ ticks, step }, 'en')).size).toBe(ticks.length)
  }
})

test('an axis of counts has whole numbers, and its maximum is above zero even if all values are zero', () => {
  for (const most of [0, 1, 2, 3, 4, 7]) {
    const { ticks } = createAxis({ least: 0, most }, true)
    expect([most, ticks.length > 1, ticks.every(Number.isInteger)]).toEqual([most, true, true])
  }
  expect(labels(0, 0)).toEqual(['0', '1'])
})

test('levels are drawn from zero unless their changes would be too small to see', () => {
  expect(extentOfLevels([5, 9])).toEqual({ least: 0, most: 9 })
  expect(extentOfLevels([100, 100])).toEqual({ least: 0, most: 100 })
  expect(extentOfLevels([100, 101])).toEqual({ least: 100, most: 101 })
  expect(extentOfLevels([0, 0])).toEqual({ least: 0, most: 0 })
})

test('a few dates have labels, including the last one', () => {
  const placesOf = (count: number) => {
    const days = Array.from({ length: count }, (_, at) => new Date(Date.UTC(2026, 0, at + 1)).toISOString())
    return datesLabelled(days.map(day => day.slice(0, 10))).map(({ at }) => at)
  }
  expect(placesOf(0)).toEqual([])
  expect(placesOf(1)).toEqual([0])
  expect(placesOf(4)).toEqual([0, 1, 2, 3])
  expect(placesOf(30)).toEqual([9, 19, 29])
  expect(placesOf(31)).toEqual([0, 10, 20, 30])
})

test('labels of days have no year, and times, which are not at equal distances, are numbered', () => {
  const textsOf = (...dates: readonly string[]) => datesLabelled(dates).map(({ text }) => text)
  expect(textsOf('2026-11', '2026-12')).toEqual(['2026-11', '2026-12'])
  expect(textsOf('2026-11-21', '2026-11-22')).toEqual(['11-21', '11-22'])
  expect(textsOf('2026-11-21 08:23:28', '2026-11-21 08:23:40', '2026-11-21 08:25:19')).toEqual(['1', '2', '3'])
})
