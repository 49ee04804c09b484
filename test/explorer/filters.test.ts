import { expect, test } from 'bun:test'
import { readWholeCsv } from '../support/read-csv.ts'
import { hashesIn } from './read-page.ts'
import { explorerOn } from './served.ts'

const explorer = await explorerOn()

type Answer = { readonly transactions: readonly { readonly tx_hash: string }[]; readonly next?: string }

const nextOf = (html: string): string | undefined =>
  /<a href="([^"]*)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&')

const PAGES = {
  account: (account: string) => [`/account/${account}`, 'account/get-account-tx', { account }] as const,
  contract: (contract: string) => [`/contract/${contract}`, 'contract/get-contract-tx', { contract }] as const,
  token: (token: string) => [`/token/${token}`, 'token/get-token-tx', { token }] as const,
}

test.each([
  [PAGES.account('busyhub'), { failed: '1' }],
  [PAGES.account('admin'), { func_name: 'auth.iost/signUp' }],
  [PAGES.account('busyhub'), { direction: 'in' }],
  [PAGES.account('busyhub'), { counterparty: 'user_009' }],
  [
    PAGES.account('busyhub'),
    { direction: 'out', counterparty: 'user_009', token: 'iost', func_name: 'token.iost/transfer' },
  ],
  [PAGES.account('busyhub'), { token: 'iost,ram', direction: 'in' }],
  [PAGES.account('user_009'), { failed: '1', counterparty: 'user_088' }],
  [PAGES.contract('token.iost'), { counterparty: 'user_009' }],
  [PAGES.contract('token.iost'), { failed: '1', action_name: 'transfer' }],
  [PAGES.token('iost'), { counterparty: 'user_009' }],
  [PAGES.token('iost'), { func_name: 'token.iost/transferFreeze' }],
] as const)('filters: %j shows the rows of the API with %j, page by page', async ([path, action, of], filters) => {
  let seen = 0
  let [to, after]: [string | undefined, string | undefined] = [`${path}?${new URLSearchParams(filters)}`, undefined]
  for (let page = 0; page < 3 && to !== undefined; page++) {
    const answer: Answer = await explorer.call<Answer>(action, {
      ...{ ...of, ...filters, size: '25' },
      ...(after === undefined ? (to.includes('page=') ? { page: String(page + 1) } : {}) : { after }),
    })
    const { html } = await explorer.visit(to)
    expect([path, filters, page, hashesIn(html)]).toEqual([
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
  expect(hashesIn(html).length).toBe(25)
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
  expect(hashesIn(plain?.html ?? '').length).toBeGreaterThan(0)
  expect(hashesIn(blank?.html ?? '')).toEqual(hashesIn(plain?.html ?? ''))
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
  const whole: Answer['transactions'][number][] = []
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
