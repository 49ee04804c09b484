import { expect, test } from 'bun:test'
import { blockFile, wealthFile } from '../download/downloads.ts'
import type { Visit } from '../page.ts'
import { Files, ordered, rankRows, selectPageRows } from './list.tsx'

test('pageOf: a whole number in the address is the page, otherwise the first page; the last one if it is too high', () => {
  const rows = Array.from({ length: 60 }, (_, at) => at)
  const first = (page: string): number | undefined => selectPageRows({ query: new URLSearchParams({ page }) }, rows)[0]
  expect(['1', '2', '3', '4', '1.5', '1e1', '0', '-1', '', 'x'].map(first)).toEqual([0, 25, 50, 50, 0, 0, 0, 0, 0, 0])
  expect(rankRows({ query: new URLSearchParams('page=2.5') }, [{}])).toEqual([{ rank: 1 }])
})

const visit = {
  ...{ root: '', site: {}, lang: 'en', say: text => text.en, query: new URLSearchParams('page=2&from=2026-11-20') },
  at: { height: 7, hash: '', time: 1_795_250_000_000_000_000n },
  // The list of this month is short, and that of any longer period is too long for a file.
  peek: async (_action, { start_date = '' } = {}) => ({ total: start_date < '2026-11-01' ? 20_001 : 7 }),
} as Partial<Visit> as Visit

test.each([
  [wealthFile, '; use the API with a key.', 0],
  [blockFile, '; choose a shorter period, or use the API with a key.', 2],
])(
  'Files: a list longer than a file has no link to the whole, and gives a remedy: %#',
  async (file, remedy, periods) => {
    const html = String(await Files({ visit, file, total: 10_001 }))
    expect(html).toContain(`this list has 10,001 rows, and a file at most 10,000${remedy}`)
    expect(html.split('<a ').length - 1).toBe(periods)
  },
)

test('Files: a list that fits has one link, also on a page that shows it whole', async () => {
  const html = String(await Files({ visit, file: wealthFile, total: 10_000 }))
  expect(html.match(/href="[^"]*"/g)).toEqual(['href="wealth.csv"'])
})

test('Files: an empty list has none', async () => {
  expect(String(await Files({ visit, file: blockFile, total: 0 }))).toBe('')
})

test('ordered: rows are sorted by all digits of a figure, largest first, and equal ones keep their order', () => {
  const rows = ['1.5', '-0.5', '9007199254740993.00000001', '10', '9007199254740993', '-0.25', '10.0'].map(
    (figure, at) => ({ figure, at }),
  )
  const sorted = ordered(rows, { by: 'x', name: { en: '', zh: '' }, figure: ({ figure }) => figure })
  expect(sorted.map(({ at }) => at)).toEqual([2, 4, 3, 6, 0, 5, 1])
})
