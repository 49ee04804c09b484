import { expect, test } from 'bun:test'
import jsQR from 'jsqr'
import { sum } from '#chain/amount.ts'
import { oracle, recordedBlocks } from '../support/nodes/recording.ts'
import { plainItems, sharesOf } from '../support/oracle/items.ts'
import { readWholeCsv } from '../support/read-csv.ts'
import { figuresIn, hashesIn, nftsOn, pointsAfter, tableIn, unescapeHtml } from './read-page.ts'
import { explorerOn } from './served.ts'

const explorer = await explorerOn()

type Row = Awaited<ReturnType<typeof explorer.list>>[number]

/** The direction in which token.iost changed an account's balance, with the sign. Empty if nothing moved. */
function directionOf({ action_name, data, token }: Row, account: string): string {
  if (token === undefined) return ''
  const giver = action_name === 'issue' ? '' : data[1]
  const taker = action_name === 'issue' ? data[1] : action_name === 'destroy' ? '' : data[2]
  if (giver === account) return taker === account ? 'Self' : 'Out−'
  return taker === account ? 'In+' : 'Others'
}

const directionIn = (row: string): string =>
  (/<span class="way[^>]*>([^<]*)</.exec(row)?.[1] ?? '') + (/<span class="(?:out|in good)">(.)/.exec(row)?.[1] ?? '')

test('/account: only accounts whose balance changed have In or Out with a sign; issuers and signers have none', async () => {
  const seen = new Set<string>()
  for (const account of ['__proto__', 'tokenboss', 'busyhub', 'admin'])
    for (const page of ['1', '2', '3']) {
      const transactions = await explorer.list('account/get-account-tx', { account, size: '25', page })
      const { html } = await explorer.visit(`/account/${account}?page=${page}`)
      const expected = transactions.map(row => directionOf(row, account))
      expect([account, page, tableIn(html).split('<tr>').slice(2).map(directionIn)]).toEqual([account, page, expected])
      for (const direction of expected) seen.add(direction)
    }
  expect([...seen].toSorted()).toEqual(['', 'In+', 'Others', 'Out−', 'Self'])
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
      for (const time of times)
        expect(html).toContain(`datetime="${new Date(Number(time / 1_000_000n)).toISOString()}"`)
      compared += times.length
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
  const other = await explorer.visit('/zh/account/busyhub?token=neverissued&func_name=gas.iost%2Fpledge')
  expect(other.text).toContain('该合约的调用所引起的代币变动另有记录')
  // The form keeps a token that the account no longer has.
  expect(other.html).toContain('<option value="neverissued" selected>neverissued</option>')
  expect(other.html).toContain('<input name="failed" type="checkbox" value="1"/>')
})

test.each([
  ['account/__proto__', {}],
  ['contract/token.iost', {}],
  ['contract/token.iost', { action_name: 'issue' }],
])('/%s %j: the plot has the records of each day, and a table of its values', async (path, params) => {
  const [kind = '', name = ''] = path.split('/')
  const days = await explorer.list(`${kind}/get-${kind}-activity`, { [kind]: name, ...params })
  const { html } = await explorer.visit(`/${path}?${new URLSearchParams(params)}`)
  expect(pointsAfter(html, 'class="activity">')).toEqual(days.map(({ date, records }) => `${date}: ${records}`))
  const [, table = ''] = /class="activity">.*?<details class="inner">(.*?)<\/details>/s.exec(html) ?? []
  const counts = days.map(({ records }) => records).filter(Boolean)
  expect(figuresIn(table).map(Number)).toEqual(counts.toReversed())
})

/** Filters with which an account's page has no plot of all records, one without rows, and one that no row can pass. */
const ACCOUNT = [
  ...['direction=in', 'counterparty=user_009', 'token=iost', 'func_name=token.iost%2Ftransfer', 'failed=1'],
  ...['from=2026-11-20', 'to=2026-11-21', 'start_block=7', 'end_block=4000', 'from=2026-11-01&to=2026-11-02'],
  'token=iost&failed=1',
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
      const isKept = html.includes('id="balance-over-time"') && html.includes('data-live="records"')
      const shown = [html.includes('class="activity"'), isKept || path !== '/account/busyhub']
      expect([path, query, shown]).toEqual([path, query, [isPlotted, true]])
    }
})

test('/account: the page of an account with many things stays short; with long names, without plots and their tables', async () => {
  const plots = /<figure class="plot.*?<\/figure>|<details class="inner">.*?<\/details>/gs
  const plain = (await explorer.visitBoth('/account/__proto__')).map(({ html }) => html.replaceAll(plots, ''))
  const whole = (await explorer.visitBoth('/account/user_000')).map(({ html }) => html)
  expect([...plain, ...whole].filter(each => Buffer.byteLength(each) > 60_000)).toEqual([])
})

const listChanges = (account: string, token: string, given: Readonly<Record<string, string>>) =>
  explorer.list('account/get-balance-history', { account, token, size: '25', ...given })

const toShown = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

test("a balance's page shows its start, its amount, and its changes page by page as the API returns them", async () => {
  // Tables with and without a frozen balance.
  const kinds = new Set<boolean>()
  for (const path of ['busyhub/iost', 'admin/ram', '__proto__/iost', 'user_001/1e5'].map(each => `/account/${each}`)) {
    const [, , account = '', token = ''] = path.split('/')
    const [newest] = await listChanges(account, token, {})
    const [oldest] = await listChanges(account, token, { size: '1', sort: 'asc' })
    const { total } = await explorer.call('account/get-balance-history', { account, token, size: '1' })
    const { html, text } = await explorer.visit(path)
    expect(text).toContain(`First received${toShown(oldest?.['created_at'])}`)
    const [, facts = ''] = /<section class="card">(.*?)<\/section>/s.exec(html) ?? []
    expect([path, figuresIn(facts)]).toEqual([path, [newest?.['balance'], newest?.['frozen']]])
    for (let page = 1; page <= Math.min(3, Math.ceil(total / 25)); page++) {
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
  for (const path of ['busyhub/nosuch', 'nosuch/iost', 'busyhub/IOST%2F'])
    expect([path, (await explorer.visit(`/account/${path}`)).response.status]).toEqual([path, 404])
  // Account and token both exist, but the account never had the token.
  expect((await explorer.visit('/account/busyhub/contribute')).text).toContain('No changes.')
})

/** The earliest time of a frozen amount, and the sum of the amounts at that time. */
function findNextDue(frozen: readonly { readonly amount: string; readonly time: string }[]) {
  const [time] = frozen.map(each => each.time).toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
  if (time === undefined) return undefined
  const amount = frozen.reduce((all, each) => (each.time === time ? sum(all, each.amount) : all), '0')
  return { iso: new Date(Number(BigInt(time) / 1_000_000n)).toISOString().slice(0, 19), amount }
}

/** Whether the rewards by producer add up to less than all of them; undefined: that is not known. */
function isCut(all: string | null, amounts: readonly (string | null)[]): boolean | undefined {
  if (amounts.length === 0 || amounts.includes(null) || all === null) return undefined
  return amounts.reduce((total: string, amount) => sum(total, amount ?? '0'), '0') !== all
}

test('withdrawals: a page shows the withdrawable rewards, their producers, and the next due amount with its time', async () => {
  const seen = new Set<string>()
  for (const [at, { account }] of (await explorer.list('base/get-wealth-list', { size: '200' })).entries()) {
    if (at > 30 && seen.size === 5) break
    const { iost, unclaimed } = await explorer.call('account/get-account-assets', { account })
    const { frozen_balance } = await explorer.call('account/get-account-balance', { account })
    const next = findNextDue(frozen_balance.list)
    const rewards = [iost.voter_rewards, iost.producer_reward].filter(each => each !== '0')
    const byProducer: readonly (string | null)[] = unclaimed.by_producer.map(({ amount }: Row) => amount)
    const expected = [...rewards, ...(next === undefined ? [] : [next.amount]), ...byProducer.slice(0, 30)]
    const [card = '', zh = ''] = (await explorer.visitBoth(`/account/${account}`)).map(
      ({ html }) => /<section class="card"><header><div><h2 id="withdraw">.*?<\/section>/s.exec(html)?.[0],
    )
    for (const each of [card, zh])
      expect([account, figuresIn(each)]).toEqual([account, expected.filter(amount => amount !== null)])
    expect([account, card !== '']).toEqual([account, rewards.length > 0 || next !== undefined])
    expect(card).toContain(next === undefined ? '' : `datetime="${next.iso}`)
    // Rows that are cut say so, and no others do.
    const cut = isCut(iost.voter_rewards, byProducer)
    const isSaid = [card.includes('Each row is cut to 8 decimals.'), zh.includes('每行均截断到 8 位小数')]
    if (cut !== undefined) expect([account, isSaid]).toEqual([account, [cut, cut]])
    if (card !== '') expect(card).toMatch(/Rewards to withdraw|Rewards and frozen amounts|Frozen amounts/)
    if (zh !== '') expect(zh).toMatch(/^(?!.*(?:Reward|withdraw<)).*(?:可领取奖励|奖励与解冻|冻结金额)/s)
    if (rewards.length > 0) seen.add('rewarded')
    if (next !== undefined) seen.add('waiting')
    seen.add(card === '' ? 'without' : `cut: ${cut ?? false}`)
  }
  expect([...seen].toSorted()).toEqual(['cut: false', 'cut: true', 'rewarded', 'waiting', 'without'])
})

function readCode(html: string, scale = 4): string | undefined {
  const [, size = '', path = ''] =
    /<details class="qr">.*?viewBox="0 -0\.5 (\d+) \1".*?<path d="([^"]*)">/s.exec(html) ?? []
  const side = Number(size) * scale
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255)
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)/g))
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++) {
      const from = (row * side + Number(x) * scale) * 4
      for (let at = from; at < from + Number(length) * scale * 4; at += 4) pixels.fill(0, at, at + 3)
    }
  return jsQR(pixels, side, side)?.data
}

test('QR code: a reader decodes the name of the page, for every kind of owner', async () => {
  const contract = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'
  const eth = '0x1a77584e7e8880584b18ce251b507273e9751903'
  for (const name of ['admin', '__proto__', '12345', 'vote.iost', '0', eth, contract])
    expect((await explorer.visitBoth(`/account/${name}`)).map(({ html }) => readCode(html))).toEqual([name, name])
})

test("an account's page shows its NFTs and their number, and nothing about NFTs if it owns none", async () => {
  const { items } = await plainItems()
  for (const owner of ['12345', '__proto__', 'constructor']) {
    const own = [...items].filter(([, item]) => item.owner === owner).map(([id]) => id)
    const page = await explorer.visit(`/account/${owner}`)
    expect(nftsOn(page).toSorted()).toEqual(own.toSorted())
    expect(page.text).toContain(`NFTs: ${own.length}`)
  }
  const none = await explorer.visit('/account/admin')
  expect([nftsOn(none), none.html.includes('NFTs: ')]).toEqual([[], false])
})

test('transactions show the NFTs that they issued and moved', async () => {
  const { movements } = await plainItems()
  for (const { id, hash } of movements) {
    const page = await explorer.visit(`/tx/${hash}`)
    expect([hash, nftsOn(page)]).toEqual([hash, expect.arrayContaining([id])])
    expect(page.text).not.toContain('No tokens moved')
  }
  const issued = movements.filter(({ from }) => from === '').length
  expect(Math.min(issued, movements.length - issued)).toBeGreaterThan(5)
})

test("a collection's page shows its NFTs with their owners, the one issued last first", async () => {
  const { items } = await plainItems()
  const page = await explorer.visit('/nft/nft_dogs')
  expect(nftsOn(page)).toEqual([4, 3, 2, 1, 0].map(number => `nft_dogs/${number}`))
  for (const id of nftsOn(page)) expect(page.html).toContain(`account/${items.get(id)?.owner}"`)
  expect(page.text).toContain('5 rows')
})

test("the list of all collections is linked in every page header, and a collection's page shows the number of NFTs per owner", async () => {
  const { items, collections } = await plainItems()
  const { text, links } = await explorer.visit('/nfts')
  const listed = links.flatMap(({ href }) => /^nft\/([^/?]+)$/.exec(href)?.[1] ?? [])
  expect(listed).toEqual([...collections].toSorted(([, a], [, b]) => b - a).map(([symbol]) => symbol))
  expect(text).toContain(`${collections.size} collections, most NFTs first.`)
  expect((await explorer.visit('/')).links.map(({ href }) => href)).toContain('nfts')
  const { html } = await explorer.visit('/nft/nft_cats?owners=1')
  const owners = [...sharesOf(items).keys()].filter(share => share.startsWith('nft_cats/'))
  for (const share of owners) expect(html).toContain(`account/${share.slice('nft_cats/'.length)}"`)
})

test("an NFT's page shows its owner, its metadata and every previous owner", async () => {
  const { items } = await plainItems()
  for (const [id, { owner, metadata, moves }] of items) {
    const { html, text } = await explorer.visit(`/nft/${id}`)
    const parties = moves.flatMap(({ from, to }) => (from === '' ? [to] : [from, to]))
    for (const party of [owner, ...parties]) expect([id, html.includes(`account/${party}"`)]).toEqual([id, true])
    expect(text).toContain(metadata)
    expect(text).toContain(moves.length === 1 ? '1 row' : `${moves.length} rows`)
  }
})

test('a missing or impossible NFT or collection is not found', async () => {
  const odd = ['NFT', 'nft_dogs/x', '__proto__', '__proto__/0', 'nft_dogs/0/1']
  for (const path of ['nft_dogs/5', 'nosuch', 'nosuch/0', ...odd])
    for (const { response } of await explorer.visitBoth(`/nft/${path}`))
      expect([path, response.status]).toEqual([path, 404])
})

const nextOf = (html: string): string | undefined => /<a href="([^"]*)" rel="next"/.exec(html)?.[1]

test.each([
  ['account/busyhub', 'failed=1'],
  ['account/admin', 'func_name=auth.iost/signUp'],
  ['account/busyhub', 'direction=in'],
  ['account/busyhub', 'counterparty=user_009'],
  ['account/busyhub', 'direction=out&counterparty=user_009&token=iost&func_name=token.iost/transfer'],
  ['account/busyhub', 'token=iost,ram&direction=in'],
  ['account/user_009', 'failed=1&counterparty=user_088'],
  ['contract/token.iost', 'counterparty=user_009'],
  ['contract/token.iost', 'failed=1&action_name=transfer'],
  ['token/iost', 'counterparty=user_009'],
  ['token/iost', 'func_name=token.iost/transferFreeze'],
])('filters: %s shows the rows of the API with %s, page by page', async (path, query) => {
  const [kind = '', name = ''] = path.split('/')
  const filters = { [kind]: name, ...Object.fromEntries(new URLSearchParams(query)), size: '25' }
  let seen = 0
  let [to, after]: [string | undefined, string | undefined] = [`/${path}?${query}`, undefined]
  for (let page = 1; page <= 3 && to !== undefined; page++) {
    const place = to.includes('page=') ? { page: `${page}` } : {}
    const asked = { ...filters, ...(after === undefined ? place : { after }) }
    const { transactions, next } = await explorer.call(`${kind}/get-${kind}-tx`, asked)
    const { html } = await explorer.visit(to)
    expect([page, hashesIn(html)]).toEqual([page, transactions.map(({ tx_hash }: Row) => tx_hash)])
    seen += transactions.length
    after = next
    const href = nextOf(html)
    to = href && new URL(unescapeHtml(href), `http://127.0.0.1/${path}`).href.slice('http://127.0.0.1'.length)
    if (after !== undefined) expect(to).toContain(`after=${encodeURIComponent(after)}`)
  }
  expect(seen).toBeGreaterThan(0)
})

test('filters: they combine with a period, work in Chinese, and are cleared by one link', async () => {
  const query = 'direction=in&counterparty=user_009&from=2026-11-21&to=2026-11-21'
  const { html, text } = await explorer.visit(`/zh/account/busyhub?${query}`)
  expect(hashesIn(html).length).toBe(25)
  expect(html).toContain('<option value="in" selected>转入</option>')
  expect(text).toContain('还有更早的记录')
  expect(html).toMatch(/<a href="[^"?]*account\/busyhub">清除/)
})

test('filters: while older rows are not searched yet, no page says that there are none', async () => {
  const [en, zh] = await explorer.visitBoth('/token/iost?func_name=ram.iost/buy')
  expect(en.text).toMatch(/Nothing found so far\..*Older rows are not searched yet\./s)
  expect(zh.text).toMatch(/暂未找到。.*更早的记录尚未查找。/s)
  expect(en.text + zh.text).not.toMatch(/No records|没有记录/)
  expect([en, zh].map(({ html }) => nextOf(html))).not.toContain(undefined)
})

test('filters: blanks around a pasted name do not count', async () => {
  const list = async (name: string) => hashesIn((await explorer.visit(`/account/busyhub?counterparty=${name}`)).html)
  expect(await list('%20user_009%20')).toEqual(await list('user_009'))
  const file = await explorer.ask('/account/busyhub/records.csv?counterparty=%20user_009&to=2026-11-21%20')
  expect(file.headers.get('content-disposition')).toContain('"account-busyhub-with-user_009-to-2026-11-21.csv"')
  await file.body?.cancel()
})

test('filters: a file has the same rows, and a file that would be too long ends with an error', async () => {
  const query = 'direction=in&counterparty=user_009'
  const { links } = await explorer.visit(`/account/busyhub?${query}`)
  expect(links.map(({ href }) => href)).toContain(`../account/busyhub/records.csv?${query}`)
  const response = await explorer.ask(`/account/busyhub/records.csv?${query}`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-disposition')).toContain('account-busyhub-in-with-user_009-to-')
  const [, ...rows] = readWholeCsv(await response.text())
  const hashes: string[] = []
  for (let place: Readonly<Record<string, string>> | undefined = {}; place !== undefined; ) {
    const asked: Record<string, string> = { account: 'busyhub', direction: 'in', counterparty: 'user_009', ...place }
    const { transactions, next: after } = await explorer.call('account/get-account-tx', { ...asked, size: '500' })
    hashes.push(...transactions.map(({ tx_hash }: Row) => tx_hash))
    place = after && { after }
  }
  expect(rows.map(cells => cells[8])).toEqual(hashes)
  const long = await explorer.ask('/contract/token.iost/records.csv?counterparty=busyhub')
  await expect(long.text()).rejects.toThrow()
})
