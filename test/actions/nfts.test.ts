import { expect, test } from 'bun:test'
import { plainItems, sharesOf } from '#test/support/oracle/items.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const { items, collections } = await plainItems()

type Row = {
  readonly account: string
  readonly collection: string
  readonly token_id: string
  readonly owner: string
  readonly metadata: string
  readonly since_block: number
  readonly count: number
  readonly issued: number
}
type Params = Readonly<Record<string, string>>

/** Compares these fields of the rows of a list, page by page up to the one beyond the last, with the whole list. */
async function expectPages(
  [action, list, params, size]: readonly [action: string, list: string, params: Params, size: number],
  whole: readonly Partial<Row>[],
): Promise<void> {
  const names = Object.keys(whole[0] ?? {}) as (keyof Row)[]
  for (let page = 1; page <= Math.ceil(whole.length / size) + 1; page++) {
    const { [list]: rows, ...part } = await ask(action, { ...params, page: `${page}`, size: `${size}` })
    expect(part).toEqual({ page, size, total: whole.length })
    const shown = rows.map((row: Row) => Object.fromEntries(names.map(name => [name, row[name]])))
    expect(shown).toEqual(whole.slice((page - 1) * size, page * size))
  }
}

test('get-account-nfts: lists all NFTs that each owner has, the one received last first, and none that it gave away', async () => {
  const owned = new Map<string, Partial<Row>[]>()
  const keyOf = ({ collection, token_id }: Partial<Row>): string => `${collection}/${token_id}`
  for (const [id, { owner, moves }] of items) {
    const [collection = '', token_id = ''] = id.split('/')
    const row = { collection, token_id, owner, since_block: moves.at(-1)?.height ?? 0 }
    owned.set(owner, [...(owned.get(owner) ?? []), row])
  }
  expect(owned.size).toBeGreaterThan(5)
  for (const [account, rows] of owned) {
    rows.sort((a, b) => Number(b.since_block) - Number(a.since_block) || (keyOf(a) < keyOf(b) ? -1 : 1))
    await expectPages(['get-account-nfts', 'nfts', { account }, 2], rows)
  }
})

test('get-collection-list: lists all collections, most NFTs first, each as get-collection-detail shows it', async () => {
  const whole = [...collections].map(([collection, issued]) => ({ collection, issued }))
  whole.sort((a, b) => b.issued - a.issued)
  for (const size of [1, 2, 3]) await expectPages(['get-collection-list', 'collections', {}, size], whole)
  for (const row of (await ask('get-collection-list')).collections)
    expect(await ask('get-collection-detail', { collection: row.collection })).toEqual(row)
})

test.each([...collections])(
  '%s: NFTs in both orders, and each owner once with its number',
  async (collection, count) => {
    const nfts = Array.from({ length: count }, (_, at) => {
      const { owner = '', metadata = '' } = items.get(`${collection}/${at}`) ?? {}
      return { token_id: String(at), owner, metadata }
    })
    await expectPages(['get-collection-nfts', 'nfts', { collection, sort: 'asc' }, 7], nfts)
    await expectPages(['get-collection-nfts', 'nfts', { collection, sort: 'desc' }, 7], nfts.toReversed())
    const owners = [...sharesOf(items)]
      .filter(([share]) => share.startsWith(`${collection}/`))
      .map(([share, count]) => ({ account: share.slice(collection.length + 1), count }))
      .toSorted((a, b) => b.count - a.count || (a.account < b.account ? -1 : 1))
    expect(owners.length).toBeGreaterThan(2)
    await expectPages(['get-collection-owners', 'owners', { collection }, 2], owners)
    const { owner_count, issued } = await ask('get-collection-detail', { collection })
    expect([owner_count, issued]).toEqual([owners.length, count])
  },
)

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
  const { store, destroy } = await temporarySqlite()
  const issued = transaction({
    receipts: [said('create', ['dogs', 'alice00', '9']), said('issue', ['dogs', '0xgift', '']), CREATED],
  })
  await commitRuns(store, [chainOf([genesis()], [issued])], { lib: 1 })
  const deps = { store }
  const { nfts, total } = await ask('get-account-nfts', { account: '0xgift' }, { deps })
  expect([total, nfts[0].token_id, nfts[0].owner]).toEqual([1, '0', '0xgift'])
  expect((await ask('get-account-balance', { account: '0xgift' }, { deps })).balance).toBe('0')
  const none = { owners: [], page: 1, size: 20, total: 0 }
  expect(await ask('get-collection-owners', { collection: 'cats' }, { deps })).toEqual(none)
  await destroy()
})

/** These NFTs carry as much metadata as a transaction can hold. Together they exceed the size of an answer. */
const COUNT = 300
const EACH = 20
const metadataOf = (number: number): string => String(number).padEnd(60 * 1024, '.')

test('a page whose metadata exceeds the size of an answer is refused, half of it is answered, and an export has all rows', async () => {
  const { store, destroy } = await temporarySqlite()
  const issues = Array.from({ length: COUNT }, (_, at) => said('issue', ['cats', 'alice00', metadataOf(at)]))
  const blocks = Array.from({ length: COUNT / EACH }, (_, at) => [
    transaction({ receipts: issues.slice(at * EACH, (at + 1) * EACH) }),
  ])
  await commitRuns(store, [chainOf([genesis()], [transaction({ receipts: [CREATED] })], ...blocks)], { lib: 16 })
  const service = serviceOn(store)
  const deps = { store }
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
  await destroy()
})
