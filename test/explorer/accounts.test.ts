import { expect, test } from 'bun:test'
import jsQR from 'jsqr'
import { fromUnits, sum, toUnits } from '#chain/amount.ts'
import { oracle, recordedBlocks } from '../support/nodes/recording.ts'
import { figuresIn, hashesIn, pointsAfter } from './read-page.ts'
import { explorerOn } from './served.ts'

const explorer = await explorerOn()

/** The direction in which token.iost changed an account's balance. Empty if nothing moved. */
function wayOf({ action_name, data, token }: Readonly<Record<string, unknown>>, account: string): string {
  if (token === undefined) return ''
  const [, first, second] = data as readonly string[]
  const giver = action_name === 'issue' ? '' : first
  const taker = action_name === 'issue' ? first : action_name === 'destroy' ? '' : second
  if (giver === account) return taker === account ? 'Self' : 'Out'
  return taker === account ? 'In' : 'Others'
}

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
  const seen = new Set<string>()
  for (const account of ['__proto__', 'tokenboss', 'busyhub', 'admin'])
    for (const page of ['1', '2', '3']) {
      const transactions = await explorer.list('account/get-account-tx', { account, size: '25', page })
      const { html } = await explorer.visit(`/account/${account}?page=${page}`)
      const ways = transactions.map(row => wayOf(row, account))
      expect([account, page, saidIn(html)]).toEqual([account, page, ways.map(way => [way, SIGNS[way] ?? ''] as const)])
      for (const way of ways) seen.add(way)
    }
  expect([...seen].toSorted()).toEqual(['', 'In', 'Others', 'Out', 'Self'])
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
  expect([response.status, hashesIn(html)]).toEqual([200, []])
  for (const part of [
    'Failed transactions moved nothing: leave out “Failed only”, or direction and token.',
    '<option value="iost" selected>iost</option>',
    '<option value="in" selected>In</option>',
    '<input name="counterparty" type="text" value="admin"',
    '<input name="func_name" type="text" value="token.iost/issue"',
    '<input name="failed" type="checkbox" value="1" checked/>',
  ])
    expect(html).toContain(part)
  const zh = await explorer.visit('/zh/account/busyhub?token=iost&func_name=gas.iost%2Fpledge')
  expect(zh.text).toContain('该合约的调用所引起的代币变动另有记录')
  // The form keeps a token that the account no longer has.
  const gone = await explorer.visit('/account/busyhub?token=neverissued')
  expect(gone.html).toContain('<option value="neverissued" selected>neverissued</option>')
  expect(gone.html).toContain('<input name="failed" type="checkbox" value="1"/>')
})

test.each([
  ['/account/__proto__', 'account/get-account-activity', { account: '__proto__' }],
  ['/contract/token.iost', 'contract/get-contract-activity', { contract: 'token.iost' }],
  [
    '/contract/token.iost?action_name=issue',
    'contract/get-contract-activity',
    { contract: 'token.iost', action_name: 'issue' },
  ],
] as const)('%s: the plot has the records of each day, and a table of its values', async (path, action, params) => {
  const days = await explorer.list(action, params)
  const { html } = await explorer.visit(path)
  expect(pointsAfter(html, 'class="activity">')).toEqual(days.map(({ date, records }) => `${date}: ${records}`))
  const [, table = ''] = /class="activity">.*?<details class="inner">(.*?)<\/details>/s.exec(html) ?? []
  const counts = days.map(({ records }) => records).filter(Boolean)
  expect(figuresIn(table).map(Number)).toEqual(counts.toReversed())
})

/** Filters with which an account's page has no plot of all records, and one without rows. */
const ACCOUNT = [
  ...['direction=in', 'counterparty=user_009', 'token=iost', 'func_name=token.iost%2Ftransfer', 'failed=1'],
  ...['from=2026-11-20', 'to=2026-11-21', 'start_block=7', 'end_block=4000', 'from=2026-11-01&to=2026-11-02'],
]
const CONTRACT = ['counterparty=admin', 'failed=1', 'from=2026-11-20', 'end_block=4000', 'action_name=issue&failed=1']

test('with any filter that it cannot have the plot of all records is gone, and balance and live sign stay', async () => {
  const { visit } = await explorerOn({ isKeyless: true })
  for (const [path, queries, isPlotted] of [
    ['/account/busyhub', ['', 'page=2'], true],
    ['/account/busyhub', ACCOUNT, false],
    ['/account/0', [''], false],
    ['/contract/token.iost', ['', 'action_name=transfer'], true],
    ['/contract/token.iost', CONTRACT, false],
  ] as const)
    for (const query of queries) {
      const { html } = await visit(`${path}?${query}`)
      expect([path, query, html.includes('class="activity"')]).toEqual([path, query, isPlotted])
      if (path !== '/account/busyhub') continue
      expect([query, html.includes('id="balance-over-time"'), html.includes('data-live="records"')]).toEqual([
        ...[query, true, true],
      ])
    }
})

const MAX_BYTES = 60_000

test('/account: the page of an account with many things stays short; with long names, without plots and their tables', async () => {
  for (const prefix of ['', '/zh']) {
    const { html } = await explorer.visit(`${prefix}/account/__proto__`)
    const plain = html.replaceAll(/<figure class="plot.*?<\/figure>|<details class="inner">.*?<\/details>/gs, '')
    const whole = (await explorer.visit(`${prefix}/account/user_000`)).html
    expect([plain, whole].filter(each => Buffer.byteLength(each) > MAX_BYTES)).toEqual([])
  }
})

const SIZE = 25

const listChanges = (account: string, token: string, given: Readonly<Record<string, string>>) =>
  explorer.list('account/get-balance-history', { account, token, size: `${SIZE}`, ...given })

const toShown = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

test("a balance's page shows its start, its amount, and its changes page by page as the API returns them", async () => {
  // Tables with and without a frozen balance.
  const kinds = new Set<boolean>()
  for (const [account, token] of [
    ['busyhub', 'iost'],
    ['admin', 'ram'],
    ['__proto__', 'iost'],
    ['user_001', '1e5'],
  ] as const) {
    const [newest] = await listChanges(account, token, {})
    const [oldest] = await listChanges(account, token, { size: '1', sort: 'asc' })
    const { total } = await explorer.call('account/get-balance-history', { account, token, size: '1' })
    const path = `/account/${account}/${token}`
    const { html, text } = await explorer.visit(path)
    expect(text).toContain(`First received${toShown(oldest?.['created_at'])}`)
    const [, facts = ''] = /<section class="card">(.*?)<\/section>/s.exec(html) ?? []
    expect([path, figuresIn(facts)]).toEqual([path, [newest?.['balance'], newest?.['frozen']]])
    for (let page = 1; page <= Math.min(3, Math.ceil(total / SIZE)); page++) {
      const wanted = await listChanges(account, token, { page: `${page}` })
      const { html: of } = await explorer.visit(page === 1 ? path : `${path}?page=${page}`)
      const [, list = ''] = /<h2 id="changes">(.*?)<\/table>/s.exec(of) ?? []
      const isFrozen = wanted.some(({ frozen }) => frozen !== '0')
      kinds.add(isFrozen)
      expect([path, page, list.includes('>Frozen after</th>'), figuresIn(list)]).toEqual([
        ...[path, page, isFrozen],
        wanted.flatMap(({ change, balance, frozen }) => [change, balance, ...(isFrozen ? [frozen] : [])]),
      ])
    }
  }
  expect([...kinds].toSorted()).toEqual([false, true])
})

test('/account: an old balance is drawn by months, and a balance of less than two days by changes', async () => {
  const listPoints = async (account: string) =>
    pointsAfter((await explorer.visit(`/account/${account}`)).html, '<h2 id="balance-over-time">')
  const shown = await listPoints('admin')
  const months = { step: 'month', start_date: `${shown[0]?.slice(0, 7)}-01`, size: '400', sort: 'asc' }
  const old = await explorer.list('account/get-balance-history', { account: 'admin', ...months })
  expect(shown).toEqual(old.map(({ date, closing }) => `${date.slice(0, 7)}: ${closing}`))
  expect(shown.length).toBeGreaterThan(12)
  const changes = await listChanges('busyhub', 'iost', { size: '10' })
  const rows = changes.map(({ created_at, balance, frozen }) => `${toShown(created_at)}: ${sum(balance, frozen)}`)
  expect(await listPoints('busyhub')).toEqual(rows.toReversed())
})

test("a contract's id without its prefix opens the contract: title, owner and links have the whole id", async () => {
  const contracts = await explorer.list('base/get-contract-list', { size: '500' })
  const id = String(contracts.map(({ contract_id }) => contract_id).find(each => each.startsWith('Contract5aHQ')))
  const bare = id.replace('Contract', '')
  const { title, text, links } = await explorer.visit(`/account/${bare}/iost`)
  expect(title).toContain(`iost of ${id}`)
  expect(text).not.toContain(`iost of ${bare}`)
  expect(links.map(({ href }) => href)).toContain(`../../contract/${id}`)
  // The contract is not listed as a counterparty of its own records.
  expect((await explorer.visit(`/account/${bare}`)).html).not.toContain(`<option>${id}</option>`)
})

test('a balance of an unknown token, or of an owner that owns nothing, is not found', async () => {
  for (const path of ['/account/busyhub/nosuch', '/account/nosuch/iost', '/account/busyhub/IOST%2F'])
    expect([path, (await explorer.visit(path)).response.status]).toEqual([path, 404])
  // Account and token both exist, but the account never had the token.
  expect((await explorer.visit('/account/busyhub/contribute')).text).toContain('No changes.')
})

type Assets = {
  readonly iost: { readonly voter_rewards: string | null; readonly producer_reward: string | null }
  readonly unclaimed: {
    readonly by_producer: readonly { readonly producer: string; readonly amount: string | null }[]
  }
}
type Balance = {
  readonly frozen_balance: { readonly list: readonly { readonly amount: string; readonly time: string }[] }
}

/** The card of withdrawable amounts; `""`: the page has none. */
async function readCard(path: string): Promise<string> {
  const { html } = await explorer.visit(path)
  return /<section class="card"><header><div><h2 id="withdraw">[\s\S]*?<\/section>/.exec(html)?.[0] ?? ''
}

/** The earliest time in the list, in any position, and the sum of the amounts at that time. */
function findNextDue({ frozen_balance: { list } }: Balance) {
  const [time] = list.map(each => each.time).toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
  if (time === undefined) return undefined
  const units = list.reduce((sum, each) => sum + (each.time === time ? toUnits(each.amount, 8) : 0n), 0n)
  return { iso: new Date(Number(BigInt(time) / 1_000_000n)).toISOString().slice(0, 19), amount: fromUnits(units, 8) }
}

/** Whether the rewards by producer add up to less than their sum; undefined if that is not known. */
function isCut({ iost, unclaimed }: Assets): boolean | undefined {
  const amounts = unclaimed.by_producer.map(({ amount }) => amount)
  if (amounts.length === 0 || amounts.includes(null) || iost.voter_rewards === null) return undefined
  const sum = amounts.reduce((all, amount) => all + toUnits(amount ?? '0', 8), 0n)
  return sum !== toUnits(iost.voter_rewards, 8)
}

test('withdrawals: a page shows the withdrawable rewards, their producers, and the next due amount with its time', async () => {
  const seen = new Set<string>()
  const wealth = await explorer.list('base/get-wealth-list', { size: '200' })
  for (const [at, { account }] of wealth.entries()) {
    if (at > 30 && seen.size === 5) break
    const [assets, balance] = await Promise.all([
      explorer.call<Assets>('account/get-account-assets', { account }),
      explorer.call<Balance>('account/get-account-balance', { account }),
    ])
    const next = findNextDue(balance)
    const rewards = [assets.iost.voter_rewards, assets.iost.producer_reward].filter(each => each !== '0')
    const expected = [
      ...rewards,
      ...(next === undefined ? [] : [next.amount]),
      ...assets.unclaimed.by_producer.slice(0, 30).map(({ amount }) => amount),
    ].filter(each => each !== null)
    const [card, zh] = [await readCard(`/account/${account}`), await readCard(`/zh/account/${account}`)]
    expect([account, figuresIn(card), figuresIn(zh)]).toEqual([account, expected, expected])
    expect([account, card !== '']).toEqual([account, rewards.length > 0 || next !== undefined])
    expect(card).toContain(next === undefined ? '' : `datetime="${next.iso}`)
    // Rows that are cut say so, and no others do.
    const cut = isCut(assets)
    if (cut !== undefined)
      expect([account, card.includes('Each row is cut to 8 decimals.'), zh.includes('每行均截断到 8 位小数')]).toEqual([
        ...[account, cut, cut],
      ])
    if (card !== '') expect(card).toMatch(/Rewards to withdraw|Rewards and frozen amounts|Frozen amounts/)
    if (zh !== '') expect(zh).toMatch(/^(?!.*(?:Reward|withdraw<)).*(?:可领取奖励|奖励与解冻|冻结金额)/s)
    if (rewards.length > 0) seen.add('rewarded')
    if (next !== undefined) seen.add('waiting')
    seen.add(card === '' ? 'without' : `cut: ${cut ?? false}`)
  }
  expect([...seen].toSorted()).toEqual(['cut: false', 'cut: true', 'rewarded', 'waiting', 'without'])
})

const SCALE = 4

function readCode(html: string): string | undefined {
  const [, size = '', path = ''] =
    /<details class="qr">.*?viewBox="0 -0\.5 (\d+) \1".*?<path d="([^"]*)">/s.exec(html) ?? []
  const side = Number(size) * SCALE
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255)
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)/g))
    for (let row = Number(y) * SCALE; row < (Number(y) + 1) * SCALE; row++) {
      const from = (row * side + Number(x) * SCALE) * 4
      for (let at = from; at < from + Number(length) * SCALE * 4; at += 4) pixels.fill(0, at, at + 3)
    }
  return jsQR(pixels, side, side)?.data
}

test('QR code: a reader decodes the name of the page, for every kind of owner', async () => {
  const contract = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'
  const eth = '0x1a77584e7e8880584b18ce251b507273e9751903'
  for (const name of ['admin', '__proto__', '12345', 'vote.iost', '0', eth, contract])
    for (const prefix of ['', '/zh']) {
      const { html } = await explorer.visit(`${prefix}/account/${name}`)
      expect([name, readCode(html)]).toEqual([name, name])
    }
})
