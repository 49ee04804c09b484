import { expect, test } from 'bun:test'
import { plainItems } from '#test/support/oracle/items.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

/** The NFTs of each owner: the one received last comes first; those received in the same block are sorted by id. */
async function owned(): Promise<ReadonlyMap<string, readonly Row[]>> {
  const found = new Map<string, Row[]>()
  for (const [id, { owner, moves }] of (await plainItems()).items) {
    const [collection = '', token_id = ''] = id.split('/')
    const row = { collection, token_id, owner, since_block: moves.at(-1)?.height ?? 0 }
    found.set(owner, [...(found.get(owner) ?? []), row])
  }
  for (const rows of found.values())
    rows.sort((a, b) => b.since_block - a.since_block || (keyOf(a) < keyOf(b) ? -1 : 1))
  return found
}

const keyOf = ({ collection, token_id }: Row): string => `${collection}/${token_id}`

test('get-account-nfts: lists all NFTs that each owner has, and none that it gave away, in pages of 2', async () => {
  const all = await owned()
  expect(all.size).toBeGreaterThan(5)
  for (const [account, whole] of all)
    for (let page = 1; page <= Math.ceil(whole.length / 2) + 1; page++) {
      const { nfts, ...part } = await ask('get-account-nfts', { account, page: `${page}`, size: '2' })
      expect(part).toEqual({ page, size: 2, total: whole.length })
      const shown = nfts.map(({ collection, token_id, owner, since_block }: Row) => ({
        ...{ collection, token_id, owner, since_block },
      }))
      expect(shown).toEqual(whole.slice((page - 1) * 2, page * 2))
    }
})

type Row = {
  readonly collection: string
  readonly token_id: string
  readonly owner: string
  readonly since_block: number
}

test('get-account-nfts: an owner that occurs only as the recipient of an NFT inside a contract is found', async () => {
  const said = (name: string, args: readonly string[]) => receipt(`token721.iost/${name}`, args)
  const receipts = [said('create', ['cats', 'alice00', '9']), said('issue', ['cats', '0xgift', 'a cat'])]
  const { store, destroy } = await temporarySqlite()
  await commitRuns(store, [chainOf([genesis()], [transaction({ receipts })])], { lib: 1 })
  const deps = { store }
  const { nfts, total } = await ask('get-account-nfts', { account: '0xgift' }, { deps })
  expect([total, nfts[0].token_id, nfts[0].owner]).toEqual([1, '0', '0xgift'])
  expect((await ask('get-account-balance', { account: '0xgift' }, { deps })).balance).toBe('0')
  await destroy()
})
