import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BalanceDoc, balanceId, balances } from '#indices/balance.ts'
import { findSegment, type Segment, type SegmentSizes, segmentsId } from '#indices/segment.ts'
import { compareStandings, getSegmentStart, type Standing } from '#indices/standing.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { rankedState } from './rankings.ts'
import { workingState } from './working-state.ts'

/** Small sizes, so that some dozens of members make a tree of many leaves. */
const SIZES: SegmentSizes = { group: 6, members: 6, leaf: 8 }
const MAX = 2n ** 63n - 1n
const TOKEN = 'coin'

type Held = ReadonlyMap<string, bigint>
/** A block: the amounts of owners after it. */
type Block = readonly (readonly [owner: string, amount: bigint])[]

const tokenDoc = (holder_count: number): TokenDoc => ({
  id: TOKEN,
  symbol: TOKEN,
  full_name: '',
  issuer: '',
  decimal: 8,
  total_supply: 0n,
  current_supply: 0n,
  can_transfer: true,
  only_issuer_can_transfer: false,
  holder_count,
  height: 0,
  time: 0n,
  tx_hash: '',
})
const balanceDoc = (owner: string, amount: bigint): BalanceDoc => ({
  id: balanceId(TOKEN, owner),
  token: TOKEN,
  owner,
  amount,
  frozen: 0n,
  frozen_list: [],
})

const sorted = (held: Held): readonly Standing[] =>
  [...held]
    .filter(([, amount]) => amount > 0n)
    .map(([name, amount]) => ({ amount, name }))
    .sort((a, b) =>
      a.amount === b.amount ? Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) : a.amount > b.amount ? -1 : 1,
    )

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
        return [...held.keys()].flatMap(owner => {
          const doc = stored.get(keyOf(balances, balanceId(TOKEN, owner))) as BalanceDoc | undefined
          if (doc === undefined || doc.amount <= 0n) return []
          const standing = { amount: doc.amount, name: owner }
          const { after: from, until } = range
          const within =
            (from === undefined || compareStandings(from, standing) < 0) &&
            (until === undefined || compareStandings(standing, until) <= 0)
          return within ? [doc] : []
        })
      },
    )
  let state = begin()
  for (const [at, block] of blocks.entries()) {
    state.mark()
    const ranked = rankedState(state, SIZES)
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
  if (truth.length <= SIZES.members) {
    expect(root).toEqual([])
    return
  }
  for (const { 3: leaf = 0, 2: count } of root) {
    const list = leafOf(stored, leaf)
    expect(list.length).toBeLessThanOrEqual(SIZES.leaf)
    expect(list.reduce((sum, segment) => sum + segment[2], 0)).toBe(count)
    for (const segment of list) expect(segment[2]).toBeLessThanOrEqual(SIZES.members)
  }
  const numbers = root.map(segment => segment[3])
  expect(new Set(numbers).size).toBe(numbers.length)
  for (let offset = 0; offset < truth.length; offset++) {
    const inRoot = findSegment(root, offset)
    const found = findSegment(leafOf(stored, inRoot?.segment[3] ?? 0), inRoot?.skip ?? 0)
    const begin = found === undefined ? undefined : getSegmentStart(found.segment)
    const first = truth.findIndex(member => begin === undefined || compareStandings(begin, member) < 0)
    expect([offset, first + (found?.skip ?? Number.NaN)]).toEqual([offset, offset])
  }
  expect(findSegment(root, truth.length)).toBeUndefined()
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

test('rankedState: segments give the rank of every member after any change, and keep their size limits', () => {
  fc.assert(
    fc.property(chain, blocks => {
      follow(blocks, 1, requireTree)
    }),
    { numRuns: SOAK ? 1_000 : 25 },
  )
})

test('rankedState: the division of blocks into batches makes no difference', () => {
  fc.assert(
    fc.property(chain, fc.integer({ min: 2, max: 26 }), (blocks, cut) => {
      const nonEmpty = (stored: Stored) => Array.from({ length: 40 }, (_, leaf) => leafOf(stored, leaf))
      const alone = follow(blocks, 1, () => undefined)
      expect(nonEmpty(follow(blocks, cut, requireTree))).toEqual(nonEmpty(alone))
    }),
    { numRuns: SOAK ? 1_000 : 12 },
  )
})

test('rankedState: a ranking that grows and shrinks by one releases its leaves', () => {
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

test('rankedState: members are read only when a segment is split', () => {
  const read: object[] = []
  const state = workingState(
    (_, id) => (id === TOKEN ? (tokenDoc(7) as never) : undefined),
    range => {
      read.push(range)
      return []
    },
  )
  state.mark()
  const ranked = rankedState(state, SIZES)
  for (let at = 0; at < 7; at++) ranked.state.put(balances, balanceDoc(`user_${at}`, 1n))
  expect(read).toEqual([])
  ranked.settle()
  expect(read[0]).toEqual({ index: balances, order: 'holders', group: TOKEN })
})

test('rankedState: a total that does not match the members is a defect', () => {
  const state = workingState(
    (_, id) => (id === TOKEN ? (tokenDoc(9) as never) : undefined),
    () => [],
  )
  state.mark()
  const ranked = rankedState(state, SIZES)
  for (let at = 0; at < 8; at++) ranked.state.put(balances, balanceDoc(`user_${at}`, 1n))
  expect(() => ranked.settle()).toThrow('has 9 members')
})
