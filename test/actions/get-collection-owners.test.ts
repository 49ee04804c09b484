import { expect, test } from 'bun:test'
import { plainItems, sharesOf } from '#test/support/oracle/items.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const { items, collections } = await plainItems()

/** The owners of a collection in the form of the list. */
const ownersOf = (collection: string): readonly Row[] =>
  [...sharesOf(items)]
    .filter(([share]) => share.startsWith(`${collection}/`))
    .map(([share, count]) => ({ account: share.slice(collection.length + 1), count }))
    .toSorted((a, b) => b.count - a.count || (a.account < b.account ? -1 : 1))

test.each([...collections.keys()])(
  'get-collection-owners: %s has each owner once with its number of NFTs, in pages of 2',
  async collection => {
    const whole = ownersOf(collection)
    expect(whole.length).toBeGreaterThan(2)
    for (let page = 1; page <= Math.ceil(whole.length / 2) + 1; page++) {
      const { owners, ...part } = await ask('get-collection-owners', {
        ...{ collection, page: `${page}`, size: '2' },
      })
      expect(part).toEqual({ page, size: 2, total: whole.length })
      expect(owners).toEqual(whole.slice((page - 1) * 2, page * 2))
    }
    const { owner_count, issued } = await ask('get-collection-detail', { collection })
    expect([owner_count, issued]).toEqual([whole.length, whole.reduce((sum, { count }) => sum + count, 0)])
  },
)

test('get-collection-owners: a collection without NFTs has no owners, an unknown collection is not found', async () => {
  const { store, destroy } = await temporarySqlite()
  const receipts = [receipt('token721.iost/create', ['cats', 'alice00', '9'])]
  await commitRuns(store, [chainOf([genesis()], [transaction({ receipts })])], { lib: 1 })
  expect(await ask('get-collection-owners', { collection: 'cats' }, { deps: { store } })).toEqual({
    ...{ owners: [], page: 1, size: 20, total: 0 },
  })
  await destroy()
  expect((await refusal(ask('get-collection-owners', { collection: 'iost' }))).kind).toBe('not_found')
})

type Row = { readonly account: string; readonly count: number }
