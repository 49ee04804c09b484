import { expect, setDefaultTimeout, test } from 'bun:test'
import { oracle, recordedBlocks } from '../support/nodes/recording.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

const explorer = await explorerOn()

type Row = { readonly tx_hash: string }
type Days = { readonly days: readonly { readonly date: string; readonly records: number }[] }

/** The transactions in the rows of a page, in order. */
function hashesOf(html: string): readonly string[] {
  const table = html.slice(html.indexOf('data-live="records"'))
  return [...table.slice(0, table.indexOf('</table>')).matchAll(/\/tx\/(\w+)"/g)].map(([, hash]) => hash ?? '')
}

test('/account: the filters by called action and by failure show the rows of the API', async () => {
  for (const [account, filter] of [
    ['busyhub', { failed: '1' }],
    ['busyhub', { func_name: 'token.iost/transfer' }],
    ['admin', { func_name: 'auth.iost/signUp' }],
  ] as const) {
    const { transactions } = await explorer.call<{ readonly transactions: readonly Row[] }>('account/get-account-tx', {
      account,
      ...filter,
      size: '25',
    })
    const { html } = await explorer.visit(`/account/${account}?${new URLSearchParams(filter)}`)
    expect(transactions.length).toBeGreaterThan(5)
    expect([account, filter, hashesOf(html)]).toEqual([account, filter, transactions.map(({ tx_hash }) => tx_hash)])
  }
})

type Moved = {
  readonly action_name: string
  readonly data: readonly unknown[]
  readonly token?: string
  readonly block: string
  readonly tx_hash: string
}

/**
 * The direction in which token.iost changed an account's balance, from the arguments of the movement. Empty
 * if nothing moved.
 */
function wayOf({ action_name, data, token }: Moved, account: string): string {
  if (token === undefined) return ''
  const [, first, second] = data
  const giver = action_name === 'issue' ? '' : first
  const taker = action_name === 'issue' ? first : action_name === 'destroy' ? '' : second
  if (giver === account) return taker === account ? 'Self' : 'Out'
  return taker === account ? 'In' : 'Others'
}

/** The direction and the sign in each row of a page. */
const saidIn = (html: string): readonly (readonly [way: string, sign: string])[] =>
  (/data-live="records".*?<\/table>/s.exec(html)?.[0] ?? '')
    .split('<tr>')
    .slice(2)
    .map(row => [
      /<span class="way[^>]*>([^<]*)</.exec(row)?.[1] ?? '',
      /<span class="(?:out|in good)">(.)/.exec(row)?.[1] ?? '',
    ])

const SIGNS: Readonly<Record<string, string>> = { In: '+', Out: '−' }

test('/account: only accounts whose balance changed have In or Out with a sign; issuers and signers have none', async () => {
  const seen = new Map<string, number>()
  for (const account of ['__proto__', 'tokenboss', 'busyhub', 'admin'])
    for (const page of ['1', '2', '3']) {
      const { transactions } = await explorer.call<{ readonly transactions: readonly Moved[] }>(
        'account/get-account-tx',
        { account, size: '25', page },
      )
      const { html } = await explorer.visit(`/account/${account}?page=${page}`)
      const ways = transactions.map(row => wayOf(row, account))
      expect([account, page, saidIn(html)]).toEqual([account, page, ways.map(way => [way, SIGNS[way] ?? ''] as const)])
      for (const way of ways) seen.set(way, (seen.get(way) ?? 0) + 1)
    }
  expect([...seen.keys()].toSorted()).toEqual(['', 'In', 'Others', 'Out', 'Self'])
  expect(seen.get('Others')).toBeGreaterThan(10)
})

test('/account: frozen amounts of every token are shown with their time', async () => {
  const { frozen } = await oracle()
  const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n
  let compared = 0
  for (const [symbol, owners] of frozen)
    for (const [owner, entries] of owners) {
      const times = entries.map(entry => BigInt(entry.get('ftime') ?? '0')).filter(time => time > now)
      if (symbol === 'iost' || times.length === 0 || times.length > 3) continue
      const { html } = await explorer.visit(`/account/${owner}`)
      for (const time of times) {
        const iso = new Date(Number(time / 1_000_000n)).toISOString()
        expect([owner, symbol, html.includes(`datetime="${iso}"`)]).toEqual([owner, symbol, true])
        compared += 1
      }
    }
  expect(compared).toBeGreaterThan(0)
})

test('/account: the form keeps the given values, and names filters that no row can pass together', async () => {
  const { html, response } = await explorer.visit(
    '/account/busyhub?token=iost&func_name=token.iost%2Fissue&failed=1&direction=in&counterparty=admin',
  )
  expect(response.status).toBe(200)
  expect(html).toContain('Failed transactions moved nothing: leave out “Failed only”, or direction and token.')
  expect(hashesOf(html)).toEqual([])
  expect(html).toContain('<option value="iost" selected>iost</option>')
  expect(html).toContain('<option value="in" selected>In</option>')
  expect(html).toMatch(/<input name="counterparty" type="text" value="admin"/)
  expect(html).toMatch(/<input name="func_name" type="text" value="token.iost\/issue"/)
  expect(html).toMatch(/<input name="failed" type="checkbox" value="1" checked\/>/)
  const zh = await explorer.visit('/zh/account/busyhub?token=iost&func_name=gas.iost%2Fpledge')
  expect(zh.text).toContain('该合约的调用所引起的代币变动另有记录')
  const plain = await explorer.visit('/account/busyhub')
  expect(plain.html).toMatch(/<input name="failed" type="checkbox" value="1"\/>/)
  // The form keeps a token that the account no longer has.
  const gone = await explorer.visit('/account/busyhub?token=neverissued')
  expect(gone.html).toContain('<option value="neverissued" selected>neverissued</option>')
})

test('/account: the plot has the records of each day, and is absent for an account without records', async () => {
  const { days } = await explorer.call<Days>('account/get-account-activity', { account: '__proto__' })
  const { html } = await explorer.visit('/account/__proto__')
  const [, points = ''] = /class="activity">.*?data-points="([^"]*)"/s.exec(html) ?? []
  expect(points.replaceAll(',', '').split('|')).toEqual(days.map(({ date, records }) => `${date}: ${records}`))
  expect(days.some(({ records }) => records > 1_000)).toBe(true)
  expect((await explorer.visit('/account/0')).html).not.toContain('class="activity"')
})

test('/contract: the plot has the records of each day, also for a chosen action, and a table of its values', async () => {
  const of = { contract: 'token.iost' }
  for (const [query, action] of [
    ['', {}],
    ['?action_name=issue', { action_name: 'issue' }],
  ] as const) {
    const { days } = await explorer.call<Days>('contract/get-contract-activity', { ...of, ...action })
    const { html } = await explorer.visit(`/contract/token.iost${query}`)
    const [, points = '', table = ''] =
      /class="activity">.*?data-points="([^"]*)".*?<details class="inner">(.*?)<\/details>/s.exec(html) ?? []
    expect(points.replaceAll(',', '').split('|')).toEqual(days.map(({ date, records }) => `${date}: ${records}`))
    const told = [...table.matchAll(/<data value="(\d+)"/g)].map(([, value]) => Number(value))
    expect(told).toEqual(
      days
        .map(({ records }) => records)
        .filter(Boolean)
        .toReversed(),
    )
  }
})

/** The maximum size of an account's page before compression, without plots and their tables. */
const MOST_BYTES = 60_000

test('/account: the page of an account with many things of every kind stays short', async () => {
  for (const path of ['/account/__proto__', '/zh/account/__proto__']) {
    const { html } = await explorer.visit(path)
    const plain = html.replaceAll(/<figure class="plot.*?<\/figure>|<details class="inner">.*?<\/details>/gs, '')
    expect([path, Buffer.byteLength(plain) <= MOST_BYTES]).toEqual([path, true])
  }
})

test('/account: the page of an account with many things but no long names stays short with its plots and tables', async () => {
  for (const path of ['/account/user_000', '/zh/account/user_000']) {
    const { html } = await explorer.visit(path)
    expect([path, Buffer.byteLength(html) <= MOST_BYTES]).toEqual([path, true])
  }
})
