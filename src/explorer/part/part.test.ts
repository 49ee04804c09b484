import { expect, test } from 'bun:test'
import { getAccountTx } from '#actions/get-account-tx.ts'
import { CallLinks } from './layout.tsx'
import { rankRows, selectPageRows } from './list.tsx'
import { Concentration } from './share.tsx'
import { Code } from './text.tsx'

const site = {
  ...{ version: '', isExplored: true, testKey: 'test', labels: new Map() },
  assets: { style: '', script: '', theme: '', preview: '' },
}

/** The links on a page with some calls: text and query. */
function listLinks(...calls: readonly Readonly<Record<string, string>>[]) {
  const frame = { site, root: '/', say: ({ en }: { readonly en: string }) => en }
  const html = String(CallLinks({ frame, calls: calls.map(given => ({ action: getAccountTx, given })) }))
  const links = html.replaceAll('&amp;', '&').matchAll(/<a href="[^"?]*\?([^"]*)">([^<]*)<\/a>/g)
  return [...links].map(
    ([, query = '', text = '']) => `${text} ${[...new URLSearchParams(query)].toSorted().join(' ')}`,
  )
}

test('links to the data of a page: JSON of each of its parts, also after a row; one CSV of the whole list', () => {
  const given = { account: 'busyhub', direction: 'out', size: '25' }
  const common = 'account,busyhub action,get-account-tx'
  const rest = 'apikey,test direction,out'
  expect(listLinks({ ...given, after: '7-1-0-x' })).toEqual([
    `JSON ${common} after,7-1-0-x ${rest} module,account size,25`,
    `CSV ${common} ${rest} format,csv module,account`,
  ])
  const parts = listLinks(...['1', '2', '1'].map(page => ({ ...given, page })))
  expect(parts.map(each => each.split(' account')[0])).toEqual(['JSON 1–25', 'JSON 26–50', 'CSV'])
})

test('selectPageRows: a whole number in the address is the page, otherwise the first page; the last one if it is too high', () => {
  const rows = Array.from({ length: 60 }, (_, at) => at)
  const first = (page: string): number | undefined => selectPageRows({ query: new URLSearchParams({ page }) }, rows)[0]
  expect(['1', '2', '3', '4', '1.5', '1e1', '0', '-1', '', 'x'].map(first)).toEqual([0, 25, 50, 50, 0, 0, 0, 0, 0, 0])
  expect(rankRows({ query: new URLSearchParams('page=2.5') }, [{}])).toEqual([{ rank: 1 }])
})

test.each([
  // The share of one owner is equal to that in its row, which is rounded down.
  [['2', '1'], '3', 2, 'Largest 66.66 %, No. 2 33.33 %'],
  [['1', '0.5', '0.25'], '2', 3, 'Largest 50.00 %, No. 2 to 3 37.50 %, Elsewhere 12.50 %'],
  // A small share is neither shown as zero nor omitted, and a zero share is not shown.
  [['0.000001', '0.000001'], '1', 2, 'Largest < 0.01 %, No. 2 < 0.01 %, Elsewhere 99.99 %'],
  [['99999', '0.99999999'], '100000', 2, 'Largest 99.99 %, No. 2 < 0.01 %, Elsewhere < 0.01 %'],
  [['5'], '5', 1, 'Largest 100.00 %'],
  [[], '5', 0, ''],
  [['5'], '0', 1, ''],
  // The rest of the whole is not attributed to the list.
  [Array(100).fill('1'), '200', 120, 'Largest 0.50 %, No. 2 to 10 4.50 %, No. 11 to 100 45.00 %, All others 50.00 %'],
])('Concentration: of %j in %s, which %d owners have', (...given) => {
  const [parts, whole, total, bands] = given
  const html = String(Concentration({ visit: { say: text => text.en }, parts, whole, total }))
  const shown = [...html.matchAll(/<span>([^<]*)<\/span>\s*<data[^>]*>([^<]*)</g)].map(([, ...band]) => band.join(' '))
  expect(shown.join(', ').replaceAll('&lt;', '<')).toBe(bands)
})

test('Code: another language has line numbers only; the number of marks is limited, and the whole text is shown', async () => {
  expect(await Code({ text: 'let a = 1\n<b>', language: 'native' })).toContain('<i></i>let a = 1\n<i></i>&lt;b&gt;')
  const text = '1,'.repeat(8_192)
  const html = await Code({ text, language: 'javascript' })
  expect(html.length).toBeLessThan(100_000)
  expect(html.replaceAll(/<[^>]*>/g, '').trim()).toBe(text)
})
