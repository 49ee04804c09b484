import { expect, test } from 'bun:test'
import { findSymbolsByFullName } from '#actions/search.ts'
import { oracle, parseTree, rpcAnswers, type Tree } from '#test/support/nodes/recording.ts'
import { plainItems } from '#test/support/oracle/items.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const { accounts, balances, frozen, tokens } = await oracle()

type TokenRow = { readonly balance: string; readonly frozen_balance: string; readonly symbol: string }

test('get-balances: balances of every token and owner match get-token-list, fifty per call', async () => {
  const listed = new Map<string, TokenRow>()
  const owners = new Set([...balances.values(), ...frozen.values()].flatMap(rows => [...rows.keys()]))
  for (const account of owners)
    for (const row of (await ask('get-token-list', { account })).tokens) listed.set(`${row.symbol}/${account}`, row)
  for (const token of tokens.keys())
    for (let at = 0; at < owners.size; at += 50) {
      const accounts = [...owners].slice(at, at + 50)
      const expected = accounts.map(account => {
        const { balance = '0', frozen_balance = '0' } = listed.get(`${token}/${account}`) ?? {}
        return { account, balance, frozen_balance }
      })
      expect(await ask('get-balances', { accounts: accounts.join(','), token })).toEqual({ balances: expected })
    }
  expect(listed.size).toBeGreaterThan(500)
})

type Entry = { readonly account: string; readonly balance: string; readonly frozen_balance: string }

test('get-balances: a call with several tokens matches calls with one token', async () => {
  const accounts = 'busyhub,nosuchacc,admin'
  const symbols = ['ram', 'iost', 'ram']
  const several = (await ask('get-balances', { accounts, tokens: symbols.join(',') })).balances
  const single = await Promise.all(
    symbols.map(async token => {
      const { balances } = await ask('get-balances', { accounts, token })
      return balances.map((entry: Entry | null) => entry && { ...entry, token })
    }),
  )
  expect(several).toEqual([0, 1, 2].flatMap(account => single.map(balances => balances[account])))
  expect((await refusal(ask('get-balances', { accounts, tokens: 'iost,nosuchtoken' }))).kind).toBe('not_found')
})

test('get-balances: answers are in the requested order with duplicates; unknown owners are null, owners without the token have 0', async () => {
  const id = 'ContractDjQbPXmoCWuLUCex5cJ6b6zjTAp5J66ZCu5yY4vRNp59'
  const accounts = ['nosuchacc', 'admin', '0', id.slice('Contract'.length), 'admin', id, '54321', 'deadaddr']
  const { balances: said } = await ask('get-balances', { accounts: accounts.join(',') })
  const names = said.map((entry: Entry | null) => entry?.account ?? null)
  expect(names).toEqual([null, 'admin', '0', id, 'admin', id, null, 'deadaddr'])
  const { balance } = await ask('get-account-balance', { account: id })
  expect(said[3]).toEqual({ account: id, balance, frozen_balance: '2345.678' })
  expect(said[1]).toEqual(said[4])
  expect(said[2]).toEqual({ account: '0', balance: '0', frozen_balance: '0' })
})

test('get-base-token-list: each token is as get-token-detail shows it', async () => {
  for (const row of (await ask('get-base-token-list', { size: '500' })).tokens)
    expect(await ask('get-token-detail', { token: row.symbol })).toMatchObject(row)
})

type Fields = ReadonlyMap<string, Tree>

test("get-account-detail: every account matches the node's answer", async () => {
  const voteOrder = (a: Fields, b: Fields): number => {
    const votes = Number(b.get('votes')) - Number(a.get('votes'))
    return votes !== 0 ? votes : String(a.get('option')) < String(b.get('option')) ? -1 : 1
  }
  let count = 0
  for (const [call, text] of await rpcAnswers()) {
    const name = /^GET \/getAccount\/([^/]+)\/true$/.exec(call)?.[1]
    if (name === undefined) continue
    // Some fields are left out, and the node's votes are in random order.
    const account = new Map(parseTree(text) as Fields)
    for (const left of ['balance', 'balance_string', 'frozen_balances']) account.delete(left)
    account.set('vote_infos', (account.get('vote_infos') as readonly Fields[]).toSorted(voteOrder))
    expect(parseTree(await askText('get-account-detail', { account: name }))).toEqual(account)
    count += 1
  }
  expect([count, accounts.has('__proto__')]).toEqual([279, true])
  expect(await askText('get-account-detail', { account: 'busyhub' }, { numbers: 'string' })).toContain(
    '"gas_info":{"current_total":"20309028543.1","transferable_gas":"0","pledge_gas":"20309028543.1","increase_speed":"230011.5","limit":"60003000000","pledged_info":[]},"ram_info":{"available":"784029","used":"15971","total":"800000"}',
  )
})

test('search: a single letter finds only the tokens of which it is the whole name', async () => {
  await using place = await temporarySqlite()
  const created = (symbol: string, fullName: string) => {
    const config = Buffer.from(JSON.stringify({ decimal: 8, fullName })).toString('base64')
    return receipt('token.iost/create', [symbol, 'admin', 1_000, config])
  }
  const receipts = [created('xtok', 'X'), created('xxtok', 'XX'), created('star', '🚀')]
  await commitRuns(place.store, [chainOf([genesis()], [transaction({ receipts })])], { lib: 1 })
  for (const [text, found] of [
    ['x', ['xtok']],
    ['X', ['xtok']],
    ['🚀', ['star']],
    ['', []],
    ['xx', ['xxtok']],
  ] as const)
    expect(await place.store.read(view => findSymbolsByFullName(view, text))).toEqual([...found])
})

const { items, collections } = await plainItems()

type Row = Readonly<Record<string, string | number>>
type Params = Readonly<Record<string, string>>

/** Compares these fields of the rows of a list, page by page up to the one beyond the last, with the whole list. */
async function expectPages(
  [action, list, params, size]: readonly [action: string, list: string, params: Params, size: number],
  whole: readonly Row[],
): Promise<void> {
  const names = Object.keys(whole[0] ?? {})
  for (let page = 1; page <= Math.ceil(whole.length / size) + 1; page++) {
    const { [list]: rows, ...part } = await ask(action, { ...params, page: `${page}`, size: `${size}` })
    expect(part).toEqual({ page, size, total: whole.length })
    const shown = rows.map((row: Row) => Object.fromEntries(names.map(name => [name, row[name]])))
    expect(shown).toEqual(whole.slice((page - 1) * size, page * size))
  }
}

test('get-account-nfts: lists all NFTs that each owner has, the one received last first, and none that it gave away', async () => {
  const owned = new Map<string, Row[]>()
  const keyOf = ({ collection, token_id }: Row): string => `${collection}/${token_id}`
  for (const [id, { owner, moves }] of items) {
    const [collection = '', token_id = ''] = id.split('/')
    const row = { collection, token_id, owner, since_block: moves.at(-1)?.height ?? 0 }
    owned.set(owner, [...(owned.get(owner) ?? []), row])
  }
  expect(owned.size).toBeGreaterThan(5)
  for (const [account, rows] of owned) {
    rows.sort((a, b) => Number(b['since_block']) - Number(a['since_block']) || (keyOf(a) < keyOf(b) ? -1 : 1))
    await expectPages(['get-account-nfts', 'nfts', { account }, 2], rows)
  }
})

test('get-collection-list: each collection is as get-collection-detail shows it', async () => {
  const rows: readonly Row[] = (await ask('get-collection-list')).collections
  expect(new Map(rows.map(({ collection, issued }) => [collection, issued]))).toEqual(collections as never)
  for (const row of rows)
    expect(await ask('get-collection-detail', { collection: String(row['collection']) })).toEqual(row as never)
})

test.each([...collections])('%s: NFTs in both orders', async (collection, count) => {
  const nfts = Array.from({ length: count }, (_, at) => {
    const { owner = '', metadata = '' } = items.get(`${collection}/${at}`) ?? {}
    return { token_id: String(at), owner, metadata }
  })
  await expectPages(['get-collection-nfts', 'nfts', { collection, sort: 'asc' }, 7], nfts)
  await expectPages(['get-collection-nfts', 'nfts', { collection, sort: 'desc' }, 7], nfts.toReversed())
})

test('get-nft-detail, get-nft-history: every NFT has the owner, metadata and movements of the blocks', async () => {
  for (const [id, { owner, metadata, moves }] of items) {
    const [collection = '', token_id = ''] = id.split('/')
    const block = moves[0]?.height ?? 0
    const found = await ask('get-nft-detail', { collection, token_id })
    expect(found).toMatchObject({ collection, token_id, owner, metadata, block })
    expect(await ask('get-nft-detail', { collection, token_id: `00${token_id}` })).toEqual(found)
    expect((await ask('get-transaction-detail', { tx_hash: found.tx_hash })).block_number).toBe(String(block))
    const whole = moves.map(({ height, from, to }, at) => ({ seq: at + 1, block: height, from, to }))
    for (const sort of ['asc', 'desc']) {
      const { movements, total } = await ask('get-nft-history', { collection, token_id, sort })
      expect([total, movements]).toMatchObject([whole.length, sort === 'asc' ? whole : whole.toReversed()])
    }
  }
  const later = await ask('get-nft-history', { collection: 'nft_cats', token_id: '0', start_block: '809' })
  expect([later.total, later.movements[0].from, later.movements[0].to]).toEqual([1, '__proto__', '12345'])
})

test('get-nft-detail: the error names the missing collection or NFT', async () => {
  const refused = async (collection: string) => (await refusal(ask('get-nft-detail', { collection, token_id: '5' }))).en
  expect(await refused('nft_dogs')).toContain("NFT 'nft_dogs/5' does not exist")
  expect(await refused('nosuch')).toContain("Collection 'nosuch' does not exist")
})

const said = (name: string, args: readonly string[]) => receipt(`token721.iost/${name}`, args)
const CREATED = said('create', ['cats', 'alice00', '1000'])

test('an owner that only received an NFT inside a contract is found, and a collection without NFTs has no owners', async () => {
  await using place = await temporarySqlite()
  const issued = transaction({
    receipts: [said('create', ['dogs', 'alice00', '9']), said('issue', ['dogs', '0xgift', '']), CREATED],
  })
  await commitRuns(place.store, [chainOf([genesis()], [issued])], { lib: 1 })
  const deps = { store: place.store }
  const { nfts, total } = await ask('get-account-nfts', { account: '0xgift' }, { deps })
  expect([total, nfts[0].token_id, nfts[0].owner]).toEqual([1, '0', '0xgift'])
  expect((await ask('get-account-balance', { account: '0xgift' }, { deps })).balance).toBe('0')
  const none = { owners: [], page: 1, size: 20, total: 0 }
  expect(await ask('get-collection-owners', { collection: 'cats' }, { deps })).toEqual(none)
})

/** These NFTs carry as much metadata as a transaction can hold. Together they exceed the size of an answer. */
const COUNT = 300
const EACH = 20
const metadataOf = (number: number): string => String(number).padEnd(60 * 1024, '.')

test('a page whose metadata exceeds the size of an answer is refused, half of it is answered, and an export has all rows', async () => {
  await using place = await temporarySqlite()
  const issues = Array.from({ length: COUNT }, (_, at) => said('issue', ['cats', 'alice00', metadataOf(at)]))
  const blocks = Array.from({ length: COUNT / EACH }, (_, at) => [
    transaction({ receipts: issues.slice(at * EACH, (at + 1) * EACH) }),
  ])
  await commitRuns(place.store, [chainOf([genesis()], [transaction({ receipts: [CREATED] })], ...blocks)], { lib: 16 })
  const service = serviceOn(place.store)
  const deps = { store: place.store }
  for (const [action, of] of [
    ['get-collection-nfts', { collection: 'cats' }],
    ['get-account-nfts', { account: 'alice00' }],
  ] as const) {
    expect(await refusal(ask(action, { ...of, size: '500' }, { deps }))).toEqual({
      kind: 'bad_request',
      en: "Parameter 'size': the long texts of this page exceed 16 MB; request at most 150 rows.",
      zh: "参数 'size'：本页的长文本超过 16 MB；每页请最多请求 150 行。",
    })
    const { nfts } = await ask(action, { ...of, size: '150', page: '2' }, { deps })
    expect(nfts.length).toBe(150)
    const query = new URLSearchParams({ module: 'nft', action, ...of, format: 'ndjson', apikey: service.key })
    const lines = (await (await service.ask(`/api/?${query}`)).text()).split('\n').slice(0, -2)
    const rows = lines.map(line => JSON.parse(line) as Row)
    const ids = rows.map(({ token_id }) => Number(token_id)).toSorted((a, b) => a - b)
    expect(ids).toEqual(Array.from({ length: COUNT }, (_, at) => at))
    for (const { token_id, metadata } of [...nfts, ...rows]) expect(metadata).toBe(metadataOf(Number(token_id)))
  }
})
