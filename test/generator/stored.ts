import { beforeAll, expect, test } from 'bun:test'
import { toDay } from '#chain/time.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import { producers } from '#indices/producer.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import type { Store, View } from '#store/port.ts'
import { hashOfRow, rowsBetween } from './rows.ts'
import type { Profile } from './settings.ts'
import { type Truth, truthAt } from './truth.ts'
import type { World } from './world.ts'

const ALL = { offset: 0, limit: 1_000_000 }
/** The number of lists whose rows are compared, not only counted. */
const LISTS = 12

/** Compares the contents of a store with the plan of a whole chain of this profile and world. */
export function storedSuite(profile: Profile, of: () => { readonly store: Store; readonly world: World }): void {
  let store: Store
  let world: World
  let truth: Truth
  const read = <T>(work: (view: View) => Promise<T>): Promise<T> => store.read(work)
  beforeAll(async () => {
    ;({ store, world } = of())
    const { height, proved } = (await store.published()) ?? { height: -1 }
    // Genesis has no signatures, so its raw form proves no more.
    const proof =
      profile === 'busy' ? [[0, 0, 'signed'] as const, [1, height, 'whole'] as const] : [[0, height, 'signed']]
    expect<unknown>((proved?.ranges ?? []).map(({ from, to, level }) => [from, to, level])).toEqual(proof)
    truth = truthAt(world, height)
  })

  test('figures match the truth', async () => {
    const figures = await read(view => view.get(statistics, STATISTICS))
    expect(figures).toMatchObject({
      account_count: truth.accounts,
      transaction_count: truth.transactions,
      record_count: truth.records,
      wealth_count: truth.wealth().length,
      list_count: truth.keys().length,
    })
  })

  test('holders and supply of every token match the truth', async () => {
    for (const token of truth.tokens()) {
      const stored = await read(view => view.page(balances, 'holders', { group: token, ...ALL }))
      expect(stored.map(({ owner, amount }) => [owner, amount] as const)).toEqual([...truth.holders(token)])
      const doc = await read(view => view.get(tokens, token))
      expect([token, doc?.current_supply, doc?.holder_count]).toEqual([token, truth.supply(token), stored.length])
    }
  })

  test('wealth and frozen amounts match the truth', async () => {
    const stored = await read(view => view.page(wealth, 'richest', ALL))
    expect(stored.map(({ id: _, ...doc }) => doc)).toEqual(truth.wealth())
    const ids = stored.map(({ owner }) => balanceId('iost', owner))
    const docs = await read(view => view.getMany(balances, ids))
    const expected = stored.map(({ owner }) =>
      truth.frozen('iost', owner).map(({ units, due }) => [String(units), String(due)] as const),
    )
    expect(docs.map(doc => doc?.frozen_list ?? [])).toEqual(expected)
    expect(expected.flat().length > 0 || profile === 'sparse').toBe(true)
  })

  test('voters and blocks of every producer match the truth', async () => {
    const { time = 0n } = (await store.published()) ?? {}
    for (const { account } of world.producers) {
      const doc = await read(view => view.get(producers, account))
      const stored = await read(view => view.page(votes, 'voters', { group: account, ...ALL }))
      expect(stored.map(({ voter, votes: units }) => [voter, units] as const)).toEqual([...truth.voters(account)])
      expect([account, doc?.block_count, doc?.voter_count, doc?.votes]).toEqual([
        account,
        truth.blocksOf(account),
        stored.length,
        truth.voters(account).reduce((sum, [, units]) => sum + units, 0n),
      ])
      // The whole chain is on one day, which began without votes.
      expect(doc?.opening_votes).toEqual(stored.length === 0 ? [] : [[toDay(time), '0']])
    }
  })

  test('every list has the total of the truth', async () => {
    const keys = truth.keys()
    const stored = await read(view => view.getMany(lists, keys))
    expect(stored.map((doc, at) => [keys[at], doc?.count])).toEqual(keys.map(key => [key, truth.count(key)]))
  })

  test('pages of lists match the truth', async () => {
    const keys = truth.keys()
    const step = Math.floor(keys.length / (LISTS + 2))
    const some = Array.from({ length: LISTS }, (_, at) => keys[(at + 1) * step] ?? '')
    const rows = [...rowsBetween(world, 0, truth.height, new Set())]
    for (const key of ['account/busy_hub', 'contract/token.iost', 'created/creator_0', ...some]) {
      const total = truth.count(key)
      const first = Math.max(1, Math.floor(total * 0.7) - 10)
      const last = Math.min(total, first + 19)
      const stored = await read(async view => {
        const list = await view.get(lists, key)
        return list === undefined ? [] : view.records(list, first, last)
      })
      const expected = rows.filter(each => each.keys.includes(key)).slice(first - 1, last)
      expect(expected.length).toBe(last - first + 1)
      expect(stored).toMatchObject(
        expected.map(row => {
          const { position: tx, action: action_name, returned, status: status_code, keys: _, ...same } = row
          return { ...same, tx, action_name, return: returned, status_code, tx_hash: hashOfRow(world, row) }
        }),
      )
    }
  })
}
