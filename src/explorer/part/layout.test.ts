import { expect, test } from 'bun:test'
import { getAccountTx } from '#actions/get-account-tx.ts'
import { CallLinks } from './layout.tsx'

const site = {
  ...{ version: '', isExplored: true, testKey: 'test', labels: new Map() },
  assets: { style: '', script: '', theme: '', preview: '' },
}

/** The parameters of the links on a page with some calls, by link text. */
function linksOf(...calls: readonly Readonly<Record<string, string>>[]) {
  const html = String(
    CallLinks({
      frame: { site, root: '/', say: ({ en }) => en },
      calls: calls.map(given => ({ action: getAccountTx, given })),
    }),
  )
  const links = [...html.matchAll(/<a href="[^"?]*\?([^"]*)">([^<]*)<\/a>/g)]
  return new Map(
    links.map(([, query = '', text = '']) => [
      text,
      Object.fromEntries(new URLSearchParams(query.replaceAll('&amp;', '&'))),
    ]),
  )
}

const COMMON = { module: 'account', action: 'get-account-tx', apikey: 'test', account: 'busyhub' }

test('links to the data of a page: JSON of its rows, also after a row; CSV of the whole list', () => {
  const filters = { account: 'busyhub', direction: 'out' }
  const part = { size: '25', after: '000000000700-00001-00000-x' }
  const links = linksOf({ ...filters, ...part })
  expect(links.get('JSON')).toEqual({ ...COMMON, ...filters, ...part })
  expect(links.get('CSV')).toEqual({ ...COMMON, ...filters, format: 'csv' })
})

test('links to the data of a page: one for each part of the page, and one file', () => {
  const links = linksOf(
    { account: 'busyhub', page: '1', size: '25' },
    { account: 'busyhub', page: '2', size: '25' },
    { account: 'busyhub', page: '1', size: '25' },
  )
  expect([...links.keys()]).toEqual(['JSON 1–25', 'JSON 26–50', 'CSV'])
})
