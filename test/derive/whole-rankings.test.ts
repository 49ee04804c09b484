import { expect, test } from 'bun:test'
import type { Transaction } from '#chain/block.ts'
import { producers } from '#indices/producer.ts'
import type { StateIndex } from '#indices/registry.ts'
import { findSegment, SEGMENT_SIZES, type Segment, segments, segmentsId } from '#indices/segment.ts'
import { compareStandings, getSegmentStart, type Standing } from '#indices/standing.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { type DerivedChain, deriveChain } from '#test/support/stores/derived-chain.ts'
import { chainOf, createToken, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'

/** Enough members for a tree with several leaves of segments, more than a group without segments can have. */
const MANY = SEGMENT_SIZES.group * 2
const nameAt = (at: number): string => `thing${String(at).padStart(4, '0')}`
const said = (name: string, args: readonly unknown[]) => receipt(`vote_producer.iost/${name}`, args)
const inBlocks = (transactions: readonly Transaction[], size: number): readonly (readonly Transaction[])[] =>
  Array.from({ length: Math.ceil(transactions.length / size) }, (_, at) =>
    transactions.slice(at * size, (at + 1) * size),
  )

const all = Array.from({ length: MANY }, (_, at) => at)
/** Tokens are created. Some have one or two holders, and some lose a holder again. Most have none. */
const tokenBlocks = inBlocks(
  all.map(at =>
    transaction({
      receipts: [
        createToken(nameAt(at), 0),
        ...['alice00', 'bob0000']
          .slice(0, at % 7 === 0 ? 2 : at % 3 === 0 ? 1 : 0)
          .map(owner => receipt('token.iost/issue', [nameAt(at), owner, '5'])),
        ...(at % 21 === 0 ? [receipt('token.iost/destroy', [nameAt(at), 'bob0000', '5'])] : []),
      ],
    }),
  ),
  50,
)
/** Producers register, and some have votes. Some unregister with their votes, and some of those register again. */
const producerBlocks = inBlocks(
  [
    ...all.map(at =>
      transaction({
        receipts: [
          ...(at % 2 === 0 ? [said('vote', ['alice00', nameAt(at), String(at % 11)])] : []),
          said('applyRegister', [nameAt(at), `key${at}`, '', '', '', true]),
        ],
      }),
    ),
    ...all.filter(at => at % 4 === 0).map(at => transaction({ receipts: [said('unregister', [nameAt(at)])] })),
    ...all
      .filter(at => at % 8 === 0)
      .map(at => transaction({ receipts: [said('applyRegister', [nameAt(at), `key${at}`, '', '', '', true])] })),
  ],
  70,
)

/** Checks the position of each member that the segments of an order give. */
function requirePlaces({ state }: DerivedChain, index: StateIndex, standings: readonly Standing[]): void {
  const truth = standings.toSorted(compareStandings)
  const leaf = (number: number): readonly Segment[] =>
    state.get(segments, segmentsId(index.name, number, ''))?.segments ?? []
  const root = leaf(0)
  expect(root.reduce((sum, [, , count]) => sum + count, 0)).toBe(truth.length)
  for (let offset = 0; offset < truth.length; offset++) {
    const inRoot = findSegment(root, offset)
    const found = findSegment(leaf(inRoot?.segment[3] ?? 0), inRoot?.skip ?? 0)
    const begin = found === undefined ? undefined : getSegmentStart(found.segment)
    const first = truth.findIndex(member => begin === undefined || compareStandings(begin, member) < 0)
    expect([offset, first + (found?.skip ?? Number.NaN)]).toEqual([offset, offset])
  }
}

test('deriveBlock: a thousand tokens are ordered by their holders, those without any at the end', () => {
  const chain = deriveChain(chainOf([genesis()], ...tokenBlocks), { sizeOf: batch => 1 + (batch % 4) })
  const docs = chain.state.all(tokens)
  expect(docs.length).toBeGreaterThan(MANY)
  expect(chain.state.get(statistics, STATISTICS)?.token_count).toBe(docs.length)
  expect(new Set(docs.map(({ holder_count }) => holder_count))).toEqual(new Set([0, 1, 2]))
  requirePlaces(
    chain,
    tokens,
    docs.map(({ holder_count, symbol }) => ({ amount: BigInt(holder_count), name: symbol })),
  )
})

test('deriveBlock: a thousand producers are ordered by votes while they are registered, and only then', () => {
  const chain = deriveChain(chainOf([genesis()], ...producerBlocks), { sizeOf: batch => 1 + (batch % 4) })
  const table = chain.state.all(producers).filter(({ registered }) => registered)
  expect(table.length).toBe(MANY - MANY / 8)
  const figures = chain.state.get(statistics, STATISTICS)
  expect(figures?.producer_count).toBe(table.length)
  expect(figures?.producer_votes).toBe(table.reduce((sum, { votes }) => sum + votes, 0n))
  expect(chain.state.all(producers).filter(doc => (doc.listed === doc.account) !== doc.registered)).toEqual([])
  requirePlaces(
    chain,
    producers,
    table.map(({ votes, account }) => ({ amount: votes, name: account })),
  )
})
