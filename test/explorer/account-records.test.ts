import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Explorer, explorerOn } from './served.ts'

// Makes the file of the whole chain where it is not there yet; a test that hangs still ends.
setDefaultTimeout(600_000)

let explorer: Explorer
beforeAll(async () => {
  explorer = await explorerOn()
})

type Row = { readonly tx_hash: string }
type Days = { readonly days: readonly { readonly date: string; readonly records: number }[] }

/** Transactions that a page has rows of, in order. */
const hashesOf = (html: string): readonly string[] => {
  const table = html.slice(html.indexOf('data-live="records"'))
  return [...table.slice(0, table.indexOf('</table>')).matchAll(/\/tx\/(\w+)"/g)].map(
    ([, hash]) => hash ?? '',
  )
}

test('/account: the filters by called action and by failure show the rows that the API has', async () => {
  for (const [account, filter] of [
    ['busyhub', { failed: '1' }],
    ['busyhub', { func_name: 'token.iost/transfer' }],
    ['admin', { func_name: 'auth.iost/signUp' }],
  ] as const) {
    const { transactions } = await explorer.call<{ readonly transactions: readonly Row[] }>(
      'account/get-account-tx',
      { account, ...filter, size: '25' },
    )
    const { html } = await explorer.visit(`/account/${account}?${new URLSearchParams(filter)}`)
    expect(transactions.length).toBeGreaterThan(5)
    expect([account, filter, hashesOf(html)]).toEqual([
      account,
      filter,
      transactions.map(({ tx_hash }) => tx_hash),
    ])
  }
})

type Moved = { readonly from: string; readonly to: string; readonly amount?: string }

/** Whether tokens came or went, as a row says it; nothing where none moved. */
const wayOf = ({ from, to, amount }: Moved, account: string): string => {
  if (amount === undefined) return ''
  if (from === to) return 'Self'
  return from === account ? 'Out' : 'In'
}

test('/account: each row that moved tokens says in a word whether they came or went', async () => {
  const { transactions } = await explorer.call<{ readonly transactions: readonly Moved[] }>(
    'account/get-account-tx',
    { account: '__proto__', size: '25' },
  )
  const { html } = await explorer.visit('/account/__proto__')
  const said = [...html.matchAll(/<td class="bare spare">(?:<span class="way[^"]*">(\w+)<\/span>)?<\/td>/g)]
  const ways = transactions.map(row => wayOf(row, '__proto__'))
  expect(said.map(([, way = '']) => way)).toEqual(ways)
  expect(new Set(ways)).toEqual(new Set(['', 'In', 'Out', 'Self']))
})

test('/account: the form keeps what was given, and says that filters cannot be combined', async () => {
  const { html, response } = await explorer.visit(
    '/account/busyhub?token=iost&func_name=token.iost%2Fissue&failed=1',
  )
  expect(response.status).toBe(200)
  expect(html).toContain('“Token”, “Called action” and “Failed only” cannot be combined')
  expect(hashesOf(html)).toEqual([])
  expect(html).toMatch(/<input name="token" type="text" value="iost"/)
  expect(html).toMatch(/<input name="func_name" type="text" value="token.iost\/issue"/)
  expect(html).toMatch(/<input name="failed" type="checkbox" value="1" checked\/>/)
  const zh = await explorer.visit('/zh/account/busyhub?token=iost&failed=1')
  expect(zh.text).toContain('不能同时使用')
  const plain = await explorer.visit('/account/busyhub')
  expect(plain.html).toMatch(/<input name="failed" type="checkbox" value="1"\/>/)
})

test('/account: its plot has the records of each day, and is absent where there are none', async () => {
  const { days } = await explorer.call<Days>('account/get-account-activity', { account: '__proto__' })
  const { html } = await explorer.visit('/account/__proto__')
  const [, start = '', values = ''] = /data-start="([^"]*)" data-values="([^"]*)"/.exec(html) ?? []
  expect([start, values.replaceAll(',', '').split(' ').map(Number)]).toEqual([
    days[0]?.date ?? '',
    days.map(({ records }) => records),
  ])
  expect(days.some(({ records }) => records > 1_000)).toBe(true)
  expect((await explorer.visit('/account/0')).html).not.toContain('data-values')
})

/** Bytes of the page of an account before it is packed (the specification allows 60 KB). */
const MOST_BYTES = 60_000

test('/account: the page of an account with much of everything is not long', async () => {
  for (const path of ['/account/__proto__', '/zh/account/__proto__']) {
    const { html } = await explorer.visit(path)
    expect([path, Buffer.byteLength(html) <= MOST_BYTES]).toEqual([path, true])
  }
})
