import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Transaction } from '#chain/block.ts'
import { createRankedState, withChanges } from '#derive/rankings.ts'
import { workingState } from '#derive/working-state.ts'
import { type BalanceDoc, balanceId, balances } from '#indices/balance.ts'
import { producers } from '#indices/producer.ts'
import type { StateIndex } from '#indices/registry.ts'
import { findSegment, SEGMENT_SIZES, type Segment, type SegmentSizes, segments, segmentsId } from '#indices/segment.ts'
import { getSegmentStart, memberId, type Standing } from '#indices/standing.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { collectionOwners, collections, countOfItems, holdings, items } from '#indices/token721.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { type DerivedChain, deriveChain } from '#test/support/stores/derived-chain.ts'
import { chainOf, createToken, genesis, receipt } from '#test/support/stores/hand-made.ts'
import { derive, sendReceipts } from '#test/support/stores/hand-made-derived.ts'

/** Larger amounts first, then names by their bytes. Written without the product's own comparison, which it judges. */
const byRank = (a: Standing, b: Standing): number =>
  Number(b.amount - a.amount) || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))

/** Checks the position of each member that the segments of an order give. `leafOf`: a list of segments; 0 is the root. */
function requirePlaces(leafOf: (leaf: number) => readonly Segment[], truth: readonly Standing[]): void {
  const root = leafOf(0)
  expect(root.reduce((sum, [, , count]) => sum + count, 0)).toBe(truth.length)
  for (let offset = 0; offset < truth.length; offset++) {
    const inRoot = findSegment(root, offset)
    const found = findSegment(leafOf(inRoot?.segment[3] ?? 0), inRoot?.skip ?? 0)
    const begin = found === undefined ? undefined : getSegmentStart(found.segment)
    const first = truth.findIndex(member => begin === undefined || byRank(begin, member) < 0)
    expect([offset, first + (found?.skip ?? Number.NaN)]).toEqual([offset, offset])
  }
  expect(findSegment(root, truth.length)).toBeUndefined()
}

/** Small sizes, so that some dozens of members make a tree of many leaves. */
const SIZES: SegmentSizes = { group: 6, members: 6, leaf: 8 }
const MAX = 2n ** 63n - 1n
const TOKEN = 'coin'

type Held = ReadonlyMap<string, bigint>
type Block = readonly (readonly [owner: string, amount: bigint])[]

/** Only with the fields that rankings read. */
const tokenDoc = (holder_count: number) => ({ id: TOKEN, symbol: TOKEN, holder_count }) as TokenDoc
const balanceDoc = (owner: string, amount: bigint): BalanceDoc => ({
  ...{ id: balanceId(TOKEN, owner), token: TOKEN, owner, amount, frozen: 0n, frozen_list: [] },
})

const sorted = (held: Held): readonly Standing[] =>
  [...held]
    .filter(([, amount]) => amount > 0n)
    .map(([name, amount]) => ({ amount, name }))
    .sort(byRank)

type Stored = Map<string, BalanceDoc | TokenDoc | { id: string; segments: readonly Segment[] }>

/** Derives blocks in batches of `cut` over documents in a Map; `after` is called at each block's end. */
function follow(blocks: readonly Block[], cut: number, after: (held: Held, stored: Stored) => void): Stored {
  const stored: Stored = new Map()
  const held = new Map<string, bigint>()
  const keyOf = (index: { readonly name: string }, id: string) => `${index.name} ${id}`
  const begin = () =>
    workingState(
      (index, id) => stored.get(keyOf(index, id)) as never,
      range => {
        expect(range.index.name).toBe('balances')
        const docs = [...held.keys()].flatMap(owner => stored.get(keyOf(balances, balanceId(TOKEN, owner))) ?? [])
        return withChanges(range, [], docs as readonly BalanceDoc[]).values()
      },
    )
  let state = begin()
  for (const [at, block] of blocks.entries()) {
    state.mark()
    const ranked = createRankedState(state, SIZES)
    for (const [owner, amount] of block) {
      ranked.state.put(balances, balanceDoc(owner, amount))
      held.set(owner, amount)
    }
    ranked.state.put(tokens, tokenDoc(sorted(held).length))
    ranked.settle()
    if ((at + 1) % cut !== 0 && at + 1 !== blocks.length) continue
    for (const { index, doc } of state.changes()) stored.set(keyOf(index, doc.id), doc as never)
    state = begin()
    after(held, stored)
  }
  return stored
}

function leafOf(stored: Stored, leaf: number): readonly Segment[] {
  const doc = stored.get(`segments ${segmentsId('balances', leaf, TOKEN)}`)
  return doc !== undefined && 'segments' in doc ? doc.segments : []
}

/** Requires that every segment counts exactly its members, and that a page may begin anywhere. */
function requireTree(held: Held, stored: Stored): void {
  const truth = sorted(held)
  const root = leafOf(stored, 0)
  if (truth.length <= SIZES.members) return void expect(root).toEqual([])
  for (const { 3: leaf = 0, 2: count } of root) {
    const list = leafOf(stored, leaf)
    expect(list.length).toBeLessThanOrEqual(SIZES.leaf)
    expect(list.reduce((sum, segment) => sum + segment[2], 0)).toBe(count)
    for (const segment of list) expect(segment[2]).toBeLessThanOrEqual(SIZES.members)
  }
  const numbers = root.map(segment => segment[3])
  expect(new Set(numbers).size).toBe(numbers.length)
  requirePlaces(leaf => leafOf(stored, leaf), truth)
}

const names = Array.from({ length: 90 }, (_, at) => `user_${at}`).concat('__proto__', 'é', '\uffff', '😀', '')
const owner = fc.constantFrom(...names)
const amounts = {
  tied: fc.constantFrom(0n, 1n, 7n, 7n, 7n),
  wide: fc.bigInt({ min: 0n, max: MAX }),
  edge: fc.constantFrom(0n, 1n, MAX, MAX - 1n, 2n ** 53n, 2n ** 53n + 1n),
}
const block = fc.oneof(
  ...[amounts.tied, amounts.wide, amounts.edge].map(amount => fc.array(fc.tuple(owner, amount), { maxLength: 40 })),
  // All members leave, or all get the same amount.
  fc.constantFrom(0n, 5n, MAX).map(amount => names.map(name => [name, amount] as const)),
)
const chain = fc.array(block, { minLength: 1, maxLength: 25 })

test('createRankedState: segments give every rank after any change, keep their size limits, and are the same for any batches', () => {
  fc.assert(
    fc.property(chain, fc.integer({ min: 2, max: 26 }), (blocks, cut) => {
      const leaves = (stored: Stored) => Array.from({ length: 40 }, (_, leaf) => leafOf(stored, leaf))
      expect(leaves(follow(blocks, cut, requireTree))).toEqual(leaves(follow(blocks, 1, requireTree)))
    }),
    { numRuns: SOAK ? 1_000 : 25 },
  )
})

test('createRankedState: a ranking that grows and shrinks by one releases its leaves', () => {
  const owners = Array.from({ length: 400 }, (_, at) => `grown_${String(at).padStart(4, '0')}`)
  const up = owners.map((name, at): Block => [[name, BigInt(at % 3) + 1n]])
  const down = owners.slice(20).map((name): Block => [[name, 0n]])
  const most: number[] = []
  const stored = follow([...up, ...down], 50, (held, now) => {
    requireTree(held, now)
    most.push(leafOf(now, 0).length)
  })
  expect(Math.max(...most)).toBeGreaterThan(10)
  expect(leafOf(stored, 0).length).toBeLessThan(5)
})

test('createRankedState: a total that does not match the members is a defect', () => {
  const state = workingState(
    (_, id) => (id === TOKEN ? (tokenDoc(9) as never) : undefined),
    () => [],
  )
  state.mark()
  const ranked = createRankedState(state, SIZES)
  for (let at = 0; at < 8; at++) ranked.state.put(balances, balanceDoc(`user_${at}`, 1n))
  expect(() => ranked.settle()).toThrow('has 9 members')
})

/** Enough members for a tree with several leaves of segments, more than a group without segments can have. */
const MANY = SEGMENT_SIZES.group * 2
const nameAt = (at: number): string => `thing${String(at).padStart(4, '0')}`
const voted = (name: string, args: readonly unknown[]) => receipt(`vote_producer.iost/${name}`, args)
const inBlocks = (transactions: readonly Transaction[], size: number): readonly (readonly Transaction[])[] =>
  Array.from({ length: Math.ceil(transactions.length / size) }, (_, at) =>
    transactions.slice(at * size, (at + 1) * size),
  )

const all = Array.from({ length: MANY }, (_, at) => at)
const registers = (at: number) => sendReceipts(voted('applyRegister', [nameAt(at), `key${at}`, '', '', '', true]))
/** Tokens are created. Some have one or two holders, and some lose a holder again. Most have none. */
const tokenBlocks = inBlocks(
  all.map(at =>
    sendReceipts(
      createToken(nameAt(at), 0),
      ...['alice00', 'bob0000']
        .slice(0, at % 7 === 0 ? 2 : at % 3 === 0 ? 1 : 0)
        .map(owner => receipt('token.iost/issue', [nameAt(at), owner, '5'])),
      ...(at % 21 === 0 ? [receipt('token.iost/destroy', [nameAt(at), 'bob0000', '5'])] : []),
    ),
  ),
  50,
)
/** Producers register, and some have votes. Some unregister with their votes, and some of those register again. */
const producerBlocks = inBlocks(
  [
    ...all.filter(at => at % 2 === 0).map(at => sendReceipts(voted('vote', ['alice00', nameAt(at), String(at % 11)]))),
    ...all.map(registers),
    ...all.filter(at => at % 4 === 0).map(at => sendReceipts(voted('unregister', [nameAt(at)]))),
    ...all.filter(at => at % 8 === 0).map(registers),
  ],
  70,
)

function requireOrder({ state }: DerivedChain, index: StateIndex, standings: readonly Standing[]): void {
  const leaf = (leaf: number) => state.get(segments, segmentsId(index.name, leaf, ''))?.segments ?? []
  requirePlaces(leaf, standings.toSorted(byRank))
}

test('deriveBlock: a thousand tokens are ordered by their holders, those without any at the end', () => {
  const chain = deriveChain(chainOf([genesis()], ...tokenBlocks), { sizeOf: batch => 1 + (batch % 4) })
  const docs = chain.state.all(tokens)
  expect(docs.length).toBeGreaterThan(MANY)
  expect(chain.state.get(statistics, STATISTICS)?.token_count).toBe(docs.length)
  expect(new Set(docs.map(({ holder_count }) => holder_count))).toEqual(new Set([0, 1, 2]))
  const standings = docs.map(({ holder_count, symbol }) => ({ amount: BigInt(holder_count), name: symbol }))
  requireOrder(chain, tokens, standings)
})

test('deriveBlock: a thousand producers are ordered by votes while they are registered, and only then', () => {
  const chain = deriveChain(chainOf([genesis()], ...producerBlocks), { sizeOf: batch => 1 + (batch % 4) })
  const table = chain.state.all(producers).filter(({ registered }) => registered)
  expect(table.length).toBe(MANY - MANY / 8)
  const figures = chain.state.get(statistics, STATISTICS)
  expect(figures?.producer_count).toBe(table.length)
  expect(figures?.producer_votes).toBe(table.reduce((sum, { votes }) => sum + votes, 0n))
  expect(chain.state.all(producers).filter(doc => (doc.listed === doc.account) !== doc.registered)).toEqual([])
  const standings = table.map(({ votes, account }) => ({ amount: votes, name: account }))
  requireOrder(chain, producers, standings)
})

// The actions of NFTs compare those of the recording with a replay (`test/actions`).

const said = (name: string, args: readonly string[]) => receipt(`token721.iost/${name}`, args)
const sent = (name: string, args: readonly string[]) => sendReceipts(said(name, args))

test('deriveBlock: an owner whose items are counted in segments can give them away until they fit without segments', () => {
  const many = SEGMENT_SIZES.group * 2
  const given = Array.from({ length: many - 2 }, (_, at) => String(at))
  const blocks = [
    [sent('create', ['many', 'alice00', String(many)])],
    ...[...given, 'x', 'y'].map(text => [sent('issue', ['many', 'alice00', text])]),
  ]
  const owned = derive(...blocks).state
  expect(owned.get(holdings, countOfItems('alice00'))?.count).toBe(many)
  expect(owned.all(segments).some(({ id }) => id.includes('alice00'))).toBe(true)
  const gifts = given.map(item => [sent('transfer', ['many', 'alice00', 'bob0000', item])])
  const { state: after } = derive(...blocks, ...gifts)
  expect(after.get(holdings, countOfItems('alice00'))?.count).toBe(2)
  expect(after.get(holdings, countOfItems('bob0000'))?.count).toBe(many - 2)
  expect(after.get(collections, 'many')).toMatchObject({ issued: many, owner_count: 2 })
})

test('deriveBlock: a collection whose owners are counted in segments has none left when one owner has all items', () => {
  const owners = Array.from({ length: SEGMENT_SIZES.group + 100 }, (_, at) => `owner${at}`)
  const blocks = [
    [sent('create', ['wide', 'alice00', '9999'])],
    [sendReceipts(...owners.map(owner => said('issue', ['wide', owner, ''])))],
  ]
  const { state: spread } = derive(...blocks)
  expect(spread.get(collections, 'wide')).toMatchObject({ issued: owners.length, owner_count: owners.length })
  const trees = (of: typeof spread) =>
    of.all(segments).filter(({ id, segments: runs }) => id.endsWith('/wide') && runs.length > 0)
  expect(trees(spread).length).toBeGreaterThan(1)
  const gifts = owners.slice(1).map((owner, at) => said('transfer', ['wide', owner, 'owner0', String(at + 1)]))
  const { state: one } = derive(...blocks, [sendReceipts(...gifts)])
  expect(one.get(collections, 'wide')?.owner_count).toBe(1)
  expect(one.get(collectionOwners, memberId('wide', 'owner0'))?.count).toBe(owners.length)
  expect(trees(one)).toEqual([])
})

test('deriveBlock: an issuer that transfers the right to issue, as if it were an item, is no longer the issuer', () => {
  const { state: after } = derive(
    [sent('create', ['cats', 'alice00', '9'])],
    [sent('issue', ['cats', 'alice00', 'a']), sent('transfer', ['cats', 'alice00', 'bob0000', 'T721issuer'])],
    [sent('issue', ['cats', 'bob0000', 'b'])],
  )
  expect(after.get(collections, 'cats')).toMatchObject({ issuer: 'bob0000', issued: 2, owner_count: 2 })
  expect(after.all(items).map(({ id, owner }) => [id, owner])).toEqual([
    ['cats/0', 'alice00'],
    ['cats/1', 'bob0000'],
  ])
  expect(after.get(holdings, countOfItems('bob0000'))?.count).toBe(1)
})

test('deriveBlock: a collection that can never have items keeps its negative supply, as on the chain', () => {
  const { state: after } = derive([sendReceipts(receipt('token721.iost/create', ['none', 'alice00', -4]))])
  expect(after.get(collections, 'none')).toMatchObject({ total_supply: -4n, issued: 0 })
})
