import { expect, setDefaultTimeout, test } from 'bun:test'
import { readWholeCsv } from '../support/read-csv.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

const explorer = await explorerOn()

type Row = { readonly tx_hash: string }
type Answer = { readonly transactions: readonly Row[]; readonly next?: string }

/** The transactions in the rows of a table of records, in order. */
const hashesOf = (html: string): readonly string[] =>
  [...(/data-live="(?:records|movements)".*?<\/table>/s.exec(html)?.[0] ?? '').matchAll(/\/tx\/(\w+)"/g)].map(
    ([, hash]) => hash ?? '',
  )

const nextOf = (html: string): string | undefined =>
  /<a href="([^"]*)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&')

/** Pages and filters, with the API parameters for the same rows. */
const LISTS = [
  ['/account/busyhub', 'account/get-account-tx', { account: 'busyhub' }, { direction: 'in' }],
  ['/account/busyhub', 'account/get-account-tx', { account: 'busyhub' }, { counterparty: 'user_009' }],
  [
    ...(['/account/busyhub', 'account/get-account-tx', { account: 'busyhub' }] as const),
    { direction: 'out', counterparty: 'user_009', token: 'iost', func_name: 'token.iost/transfer' },
  ],
  ['/account/busyhub', 'account/get-account-tx', { account: 'busyhub' }, { token: 'iost,ram', direction: 'in' }],
  [
    ...(['/account/user_009', 'account/get-account-tx', { account: 'user_009' }] as const),
    { failed: '1', counterparty: 'user_088' },
  ],
  ['/contract/token.iost', 'contract/get-contract-tx', { contract: 'token.iost' }, { counterparty: 'user_009' }],
  [
    ...(['/contract/token.iost', 'contract/get-contract-tx', { contract: 'token.iost' }] as const),
    { failed: '1', action_name: 'transfer' },
  ],
  ['/token/iost', 'token/get-token-tx', { token: 'iost' }, { counterparty: 'user_009' }],
  ['/token/iost', 'token/get-token-tx', { token: 'iost' }, { func_name: 'token.iost/transferFreeze' }],
] as const

test.each(LISTS)('filters: %s shows the rows of %s %j with %j, page by page', async (path, action, of, filters) => {
  let seen = 0
  let [to, after]: [string | undefined, string | undefined] = [`${path}?${new URLSearchParams(filters)}`, undefined]
  for (let page = 0; page < 3 && to !== undefined; page++) {
    const answer: Answer = await explorer.call<Answer>(action, {
      ...{ ...of, ...filters, size: '25' },
      ...(after === undefined ? (to.includes('page=') ? { page: String(page + 1) } : {}) : { after }),
    })
    const { html } = await explorer.visit(to)
    expect([path, filters, page, hashesOf(html)]).toEqual([
      path,
      filters,
      page,
      answer.transactions.map(({ tx_hash }) => tx_hash),
    ])
    seen += answer.transactions.length
    after = answer.next
    const next = nextOf(html)
    to = next === undefined ? undefined : new URL(next, `http://127.0.0.1${path}`).href.slice('http://127.0.0.1'.length)
    if (after !== undefined) expect(to).toContain(`after=${encodeURIComponent(after)}`)
  }
  expect(seen).toBeGreaterThan(0)
})

test('filters: they combine with a period, work in Chinese, and are cleared by one link', async () => {
  const { html, text } = await explorer.visit(
    '/zh/account/busyhub?direction=in&counterparty=user_009&from=2026-11-21&to=2026-11-21',
  )
  expect(hashesOf(html).length).toBe(25)
  expect(html).toContain('<option value="in" selected>转入</option>')
  expect(text).toContain('还有更早的记录')
  expect(html).toMatch(/<a href="[^"?]*account\/busyhub">清除/)
})

test('filters: while older rows are not searched yet, no page says that there are none', async () => {
  for (const [path, said, rest] of [
    ['/token/iost?func_name=ram.iost/buy', 'Nothing found so far.', 'Older rows are not searched yet.'],
    ['/zh/token/iost?func_name=ram.iost/buy', '暂未找到。', '更早的记录尚未查找。'],
  ] as const) {
    const { html, text } = await explorer.visit(path)
    expect(nextOf(html)).toBeDefined()
    expect(text).toContain(said)
    expect(text).toContain(rest)
    expect(text).not.toMatch(/No records|没有记录/)
  }
})

test('filters: blanks around a pasted name do not count', async () => {
  const [plain, blank] = await Promise.all(
    ['user_009', '%20user_009%20'].map(name => explorer.visit(`/account/busyhub?counterparty=${name}`)),
  )
  expect(hashesOf(plain?.html ?? '').length).toBeGreaterThan(0)
  expect(hashesOf(blank?.html ?? '')).toEqual(hashesOf(plain?.html ?? ''))
  const file = await explorer.ask('/account/busyhub/records.csv?counterparty=%20user_009&to=2026-11-21%20')
  expect(file.headers.get('content-disposition')).toContain('"account-busyhub-with-user_009-to-2026-11-21.csv"')
  await file.body?.cancel()
})

test('filters: a file has the same rows, and a file that would be too long ends with an error', async () => {
  const query = 'direction=in&counterparty=user_009'
  const { html } = await explorer.visit(`/account/busyhub?${query}`)
  expect(html.replaceAll('&amp;', '&')).toContain(`/records.csv?${query}"`)
  const response = await explorer.ask(`/account/busyhub/records.csv?${query}`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-disposition')).toContain('account-busyhub-in-with-user_009-to-')
  const [, ...rows] = readWholeCsv(await response.text())
  const whole: Row[] = []
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const answer: Answer = await explorer.call<Answer>('account/get-account-tx', {
      ...{ account: 'busyhub', direction: 'in', counterparty: 'user_009', size: '500' },
      ...(after === undefined ? {} : { after }),
    })
    whole.push(...answer.transactions)
    after = answer.next
  }
  expect(rows.map(cells => cells[8])).toEqual(whole.map(({ tx_hash }) => tx_hash))
  const long = await explorer.ask('/contract/token.iost/records.csv?counterparty=busyhub')
  await expect(long.text()).rejects.toThrow()
})
