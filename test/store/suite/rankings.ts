import { expect, test } from 'bun:test'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { producers } from '#indices/producer.ts'
import type { StateChange } from '#indices/registry.ts'
import { type Segment, segments, segmentsId } from '#indices/segment.ts'
import type { Standing } from '#indices/standing.ts'
import { tokens as tokenIndex } from '#indices/token.ts'
import { voteId, votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import type { Store } from '#store/port.ts'
import { kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { balanceDoc, batchOf, MAX, MIN, producerDoc, tokenDoc, wealthDoc } from './fixture.ts'
import { type Open, shareStore } from './harness.ts'

/** More documents than 10,000, above which Elasticsearch refuses `from` by default. */
const DEEP = 10_250
const deepOwner = (rank: number): string => `deep${String(rank).padStart(6, '0')}`
/** Three owners share each amount, so that pages cut through ties. A double cannot distinguish the amounts. */
const deepDoc = (rank: number) => wealthDoc(deepOwner(rank), 2n ** 60n + BigInt(DEEP - Math.floor(rank / 3)))

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
const vote = (producer: string, amount: bigint) => ({
  ...{ id: voteId(producer, 'v'), producer },
  ...{ voter: 'v', votes: amount },
})
const cast = [vote('p1', 5n), vote('p2', 6n), vote('p3', 6n), vote('p4', 0n), vote('p5', 10n)]

/** More members than a page without segments may skip. All but the first and the last few have the same amount. */
const COUNT = 2_600
const nameAt = (rank: number): string => `holder${String(rank).padStart(4, '0')}`
const amountAt = (rank: number): bigint => (rank < 50 ? 10_000n - BigInt(rank) : rank < 2_550 ? 77n : 3n)
const docAt = (token: string, rank: number): BalanceDoc => balanceDoc(token, nameAt(rank), { amount: amountAt(rank) })
const docs = (token: string, from: number, to: number): readonly BalanceDoc[] =>
  Array.from({ length: to - from }, (_, at) => docAt(token, from + at))
const standingAt = (rank: number): Standing => ({ amount: amountAt(rank), name: nameAt(rank) })

/** Segments that begin at these ranks. */
const cut = (begins: readonly number[], end: number): readonly Segment[] =>
  begins.map((begin, at) => {
    const { amount, name } = standingAt(begin - 1)
    const count = (begins[at + 1] ?? end) - begin
    return begin === 0 ? ['', '', count] : [String(amount), name, count]
  })
const leaf = (token: string, number: number, list: readonly Segment[]): StateChange => ({
  index: segments,
  doc: { id: segmentsId('balances', number, token), segments: list },
})
const root = cut([0, 1_000], COUNT).map(([amount, name, count], at): Segment => [amount, name, count, at === 0 ? 7 : 2])

/** Tokens by rank: a few with many holders, many with one, the rest with none. */
const tokenAt = (rank: number) =>
  tokenDoc(`token${String(rank).padStart(4, '0')}`, {
    holder_count: rank < 50 ? 1_000 - rank : rank < 400 ? 1 : 0,
  })
/** Producers by rank. After each one there is another with as many votes that is not in the table. */
const producerAt = (rank: number) =>
  producerDoc(`prod_${String(rank).padStart(4, '0')}`, {
    votes: rank < 300 ? 9_000n - BigInt(rank >> 2) : 0n,
  })
const MANY = 600
const ranks = Array.from({ length: MANY }, (_, rank) => rank)
const whole = { tokens: ranks.map(tokenAt), producers: ranks.map(producerAt) }
/** The segments of an order of `MANY` documents, in one leaf. */
function segmentsOf(index: string, standings: readonly Standing[]): readonly StateChange[] {
  const list = [0, 200, 350, 500].map((begin, at, begins): Segment => {
    const before = standings[begin - 1]
    const count = (begins[at + 1] ?? MANY) - begin
    return before === undefined ? ['', '', count] : [String(before.amount), before.name, count]
  })
  return [
    { index: segments, doc: { id: segmentsId(index, 0, ''), segments: [['', '', MANY, 1]] } },
    { index: segments, doc: { id: segmentsId(index, 1, ''), segments: list } },
  ]
}

/** Rankings and groups of state documents, pages of counted orders, and members within ranges of them. */
export function rankingCases(open: Open): void {
  const { read, ...shared } = shareStore(open, writer => {
    const tokens = ['counted', 'torn', 'emptied']
    const changes: readonly StateChange[] = [
      ...[...others, ...holders].map(doc => ({ index: balances, doc })),
      ...cast.map(doc => ({ index: votes, doc })),
      ...Array.from({ length: DEEP }, (_, at) => ({ index: wealth, doc: deepDoc(DEEP - 1 - at) })),
      ...Object.entries({ top: MAX, zero: 0n, bottom: MIN }).map(([owner, total]) => ({
        ...{ index: wealth, doc: wealthDoc(owner, total) },
      })),
      ...tokens.flatMap(token => docs(token, 0, COUNT)).map(doc => ({ index: balances, doc })),
      leaf('counted', 0, root),
      leaf('counted', 7, cut([0, 300, 800], 1_000)),
      leaf('counted', 2, cut([1_000, 1_200, 2_580], COUNT)),
      leaf('torn', 0, root),
      leaf('emptied', 0, []),
      ...whole.tokens.map(doc => ({ index: tokenIndex, doc })),
      ...whole.producers.flatMap(doc => [
        { index: producers, doc },
        { index: producers, doc: producerDoc(`${doc.account}x`, { votes: doc.votes, registered: false }) },
      ]),
      ...segmentsOf(
        'tokens',
        whole.tokens.map(doc => ({ amount: BigInt(doc.holder_count), name: doc.symbol })),
      ),
      ...segmentsOf(
        'producers',
        whole.producers.map(doc => ({ amount: doc.votes, name: doc.account })),
      ),
    ]
    return commitBatch(writer, batchOf(0, 0, { changes }))
  })
  test('page: positive amounts are descending beyond the precision of doubles, ties by name, in pages of any size', async () => {
    for (const limit of [1, 2, 3, 7, 100]) {
      const pages = await read(async view => {
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
      read(view => view.page(balances, order, { group, offset: 0, limit: 100 }))
    const tokensOf = async (...args: Parameters<typeof rows>) => (await rows(...args)).map(({ token }) => token)
    expect(await tokensOf('ofOwner', 'max')).toEqual(['Coin', 'aaa', 'coin', 'coin2'])
    expect(await tokensOf('rowsOfOwner', 'max')).toEqual(['Coin', 'aaa', 'coin', 'coin2', 'zzz'])
    expect(await rows('ofOwner', 'frozen-only')).toEqual([balanceDoc('coin', 'frozen-only', { frozen: 3n })])
    expect(await rows('ofOwner', 'below')).toEqual([])
    for (const group of ['ma', 'MAX', 'max ', '', '*', '%']) expect(await rows('rowsOfOwner', group)).toEqual([])
  })

  test('page: votes of a voter are in the order of their amounts', async () => {
    const ofVoter = await read(view => view.page(votes, 'ofVoter', { group: 'v', offset: 0, limit: 10 }))
    expect(ofVoter.map(({ producer }) => producer)).toEqual(['p5', 'p2', 'p3', 'p1'])
  })

  const held: Store['read'] = async work => {
    const { view, close } = await shared.hold({ state: [balances, wealth] })
    return await work(view).finally(close)
  }
  const ways = Object.entries({ read, held })

  test.each(ways)(
    'page, %s: any depth can be read, more than 10,000 rows at once, and nothing beyond the end',
    async (_, read) => {
      const owners = (offset: number, limit: number) =>
        read(async view => (await view.page(wealth, 'richest', { offset, limit })).map(({ owner }) => owner))
      expect(await owners(0, 3)).toEqual(['top', deepOwner(0), deepOwner(1)])
      expect(await owners(9_999, 4)).toEqual([9_998, 9_999, 10_000, 10_001].map(deepOwner))
      expect(await owners(DEEP - 1, 10)).toEqual([DEEP - 2, DEEP - 1].map(deepOwner))
      expect(await owners(DEEP + 3, 10)).toEqual([])
      expect(await owners(5_000_000_000, 10)).toEqual([])
      expect(await owners(0, 0)).toEqual([])
      const rows = await read(view => view.page(wealth, 'richest', { offset: 1, limit: DEEP }))
      expect(rows).toEqual(Array.from({ length: DEEP }, (_, rank) => deepDoc(rank)))
    },
  )

  test.each(ways)(
    'page, %s: a page begins in any segment, among thousands with one amount, and continues into the next',
    (_, read) =>
      read(async view => {
        const page = (offset: number, limit: number) =>
          view.page(balances, 'holders', { group: 'counted', offset, limit })
        for (const offset of [
          0, 127, 128, 129, 299, 300, 301, 799, 800, 801, 999, 1_000, 1_001, 1_199, 1_200, 2_549, 2_580, 2_599,
        ])
          for (const limit of [1, 7, 1_500])
            expect([offset, await page(offset, limit)]).toEqual([
              offset,
              docs('counted', offset, Math.min(COUNT, offset + limit)),
            ])
        expect(await page(COUNT, 10)).toEqual([])
      }),
  )

  test('page: an order without a condition includes amounts of zero; one with a condition only members that satisfy it', async () => {
    for (const offset of [0, 7, 128, 129, 199, 200, 201, 349, 351, 399, 400, 499, 500, 590, 599, MANY])
      for (const limit of [1, 20, 500])
        await read(async view => {
          expect(await view.page(tokenIndex, 'byHolders', { offset, limit })).toEqual(
            whole.tokens.slice(offset, offset + limit),
          )
          expect(await view.page(producers, 'ranked', { offset, limit })).toEqual(
            whole.producers.slice(offset, offset + limit),
          )
        })
  })

  const page = (group: string, offset: number, limit: number) =>
    read(view => view.page(balances, 'holders', { group, offset, limit }))

  test('page: a group with empty segments is read without them; segments without their leaf are damage, not an end', async () => {
    expect(await page('emptied', 700, 3)).toEqual(docs('emptied', 700, 703))
    expect(await kindOf(page('torn', 700, 3))).toBe('damaged')
  })

  test('state.members: all members between two ranks are returned, without the first and with the last', async () => {
    const state = await shared.writer().openState()
    const range = { index: balances, order: 'holders', group: 'counted' }
    const between = { ...range, after: standingAt(40), until: standingAt(2_560) }
    expect(state.members(between)).toEqual(docs('counted', 41, 2_561))
    expect(state.members({ ...range, after: standingAt(2_590) })).toEqual(docs('counted', 2_591, COUNT))
    expect(state.members(range)).toEqual(docs('counted', 0, COUNT))
    expect(state.members({ ...range, group: 'nobody' })).toEqual([])
    expect(state.members({ index: tokenIndex, order: 'byHolders' })).toEqual(whole.tokens)
    const table = { index: producers, order: 'ranked' }
    expect(state.members(table)).toEqual(whole.producers)
    const [after, until] = [41, 450].map(rank => ({ amount: producerAt(rank).votes, name: producerAt(rank).account }))
    expect(state.members({ ...table, ...(after && { after }), ...(until && { until }) })).toEqual(
      whole.producers.slice(42, 451),
    )
  })
}
