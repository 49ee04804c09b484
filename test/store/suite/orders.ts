import { expect, test } from 'bun:test'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { pledgeId, pledges } from '#indices/pledge.ts'
import type { StateChange } from '#indices/registry.ts'
import { voteId, votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { balanceDoc, batchOf, MAX, MIN, wealthDoc } from './fixture.ts'
import { type Open, shareStore } from './harness.ts'

/** More documents than 10,000, above which Elasticsearch refuses `from` by default. */
const DEEP = 10_250
const deepOwner = (rank: number): string => `deep${String(rank).padStart(6, '0')}`
/** Three owners share each amount, so that pages cut through ties. */
const deepDoc = (rank: number) => wealthDoc(deepOwner(rank), BigInt(DEEP - Math.floor(rank / 3)))

/** Amounts that a double cannot distinguish, ties, zero and negative amounts, with another token in between. */
const held: readonly (readonly [owner: string, amount: bigint])[] = [
  ['max', MAX],
  ['below-max', MAX - 1n],
  ['odd', 2n ** 53n + 1n],
  ['even', 2n ** 53n],
  ['tie-Z', 7n],
  ['tie-a', 7n],
  ['tie-é', 7n],
  ['one', 1n],
]
const holders = held.map(([owner, amount]) => balanceDoc('coin', owner, { amount }))
const others: readonly BalanceDoc[] = [
  balanceDoc('coin', 'zero'),
  balanceDoc('coin', 'below', { amount: -5n }),
  balanceDoc('coin', 'frozen-only', { frozen: 3n }),
  balanceDoc('coin2', 'max', { amount: 9n }),
  balanceDoc('Coin', 'max', { amount: 8n }),
  balanceDoc('aaa', 'max', { frozen: 1n }),
  balanceDoc('zzz', 'max'),
]
const vote = (producer: string, voter: string, amount: bigint) => ({
  id: voteId(producer, voter),
  producer,
  voter,
  votes: amount,
})
const pledge = (beneficiary: string, amount: bigint, seq: number) => ({
  id: pledgeId('alice', beneficiary),
  pledger: 'alice',
  beneficiary,
  amount,
  seq,
})
const cast = [vote('p1', 'v', 5n), vote('p2', 'v', 6n), vote('p3', 'v', 6n), vote('p4', 'v', 0n)] as const
const pledged = [pledge('x', 1n, 30), pledge('y', 1n, 4), pledge('z', 0n, 1), pledge('w', 9n, 200)] as const

/** Rankings and groups of state documents. */
export function orderCases(open: Open): void {
  const { read: page } = shareStore(open, writer => {
    const changes: readonly StateChange[] = [
      ...[...others, ...holders].map(doc => ({ index: balances, doc })),
      ...cast.map(doc => ({ index: votes, doc })),
      ...pledged.map(doc => ({ index: pledges, doc })),
      ...Array.from({ length: DEEP }, (_, at) => ({ index: wealth, doc: deepDoc(DEEP - 1 - at) })),
      { index: wealth, doc: wealthDoc('top', MAX) },
      { index: wealth, doc: wealthDoc('zero', 0n) },
      { index: wealth, doc: wealthDoc('bottom', MIN) },
    ]
    return commitBatch(writer, batchOf(0, 0, { changes }))
  })

  test('page: positive amounts are descending beyond the precision of doubles, ties by name, in pages of any size', async () => {
    for (const limit of [1, 2, 3, 7, 100]) {
      const pages = await page(async view => {
        const rows: BalanceDoc[] = []
        for (let offset = 0; offset < holders.length; offset += limit)
          rows.push(...(await view.page(balances, 'holders', { group: 'coin', offset, limit })))
        return rows
      })
      expect(pages).toEqual(holders)
    }
  })

  test('page: one of several positive fields is enough, and groups are exact', async () => {
    const rows = (order: 'ofOwner' | 'rowsOfOwner', group: string) =>
      page(view => view.page(balances, order, { group, offset: 0, limit: 100 }))
    const tokensOf = async (...args: Parameters<typeof rows>) => (await rows(...args)).map(({ token }) => token)
    expect(await tokensOf('ofOwner', 'max')).toEqual(['Coin', 'aaa', 'coin', 'coin2'])
    expect(await tokensOf('rowsOfOwner', 'max')).toEqual(['Coin', 'aaa', 'coin', 'coin2', 'zzz'])
    expect(await rows('ofOwner', 'frozen-only')).toEqual([balanceDoc('coin', 'frozen-only', { frozen: 3n })])
    expect(await rows('ofOwner', 'below')).toEqual([])
    for (const group of ['ma', 'MAX', 'max ', '', '*', '%']) expect(await rows('rowsOfOwner', group)).toEqual([])
  })

  test('page: votes of a voter and pledges of an account are in their orders', async () => {
    const all = { offset: 0, limit: 10 }
    const byVotes = await page(view => view.page(votes, 'ofVoter', { group: 'v', ...all }))
    expect(byVotes.map(({ producer }) => producer)).toEqual(['p2', 'p3', 'p1'])
    expect(await page(view => view.page(votes, 'voters', { group: 'p4', ...all }))).toEqual([])
    const bySeq = await page(view => view.page(pledges, 'ofPledger', { group: 'alice', ...all }))
    expect(bySeq.map(({ beneficiary }) => beneficiary)).toEqual(['y', 'x', 'w'])
  })

  test('page: any depth can be read, more than 10,000 rows at once, and nothing beyond the end', async () => {
    const owners = (offset: number, limit: number) =>
      page(async view => (await view.page(wealth, 'richest', { offset, limit })).map(({ owner }) => owner))
    expect(await owners(0, 3)).toEqual(['top', deepOwner(0), deepOwner(1)])
    expect(await owners(9_999, 4)).toEqual([9_998, 9_999, 10_000, 10_001].map(deepOwner))
    expect(await owners(DEEP - 1, 10)).toEqual([DEEP - 2, DEEP - 1].map(deepOwner))
    expect(await owners(DEEP + 3, 10)).toEqual([])
    expect(await owners(5_000_000_000, 10)).toEqual([])
    expect(await owners(0, 0)).toEqual([])
    const rows = await page(view => view.page(wealth, 'richest', { offset: 1, limit: DEEP }))
    expect(rows).toEqual(Array.from({ length: DEEP }, (_, rank) => deepDoc(rank)))
  })

  test('page: a group is required if the order has one, and refused if it has none', async () => {
    const all = { offset: 0, limit: 10 }
    expect(await kindOf(page(view => view.page(balances, 'holders', all)))).toBe('defect')
    expect(await kindOf(page(view => view.page(wealth, 'richest', { group: 'a', ...all })))).toBe('defect')
  })
}
