import { rewardOf } from './content.ts'
import { inflationsUntil, inflationTx } from './inflation.ts'
import { tallyAt } from './leap.ts'
import { inflationRows, type Row, rowsBetween } from './rows.ts'
import { addTo, applyEffect, type Frozen, partsOf, type Tally } from './tally.ts'
import type { World } from './world.ts'

/** Amounts in smallest units, sorted by amount descending, then by name. */
export type Ranked = readonly (readonly [name: string, units: bigint])[]
type Wealth = {
  readonly owner: string
  readonly total: bigint
  readonly token: bigint
  readonly vote: bigint
  readonly frozen: bigint
}

/** The correct data after a block, computed from the plan of the chain without `src/derive`. */
export type Truth = {
  readonly height: number
  balance(token: string, owner: string): bigint
  /** Amounts that are not yet due, sorted by time. */
  frozen(token: string, owner: string): readonly Frozen[]
  /** Issued minus destroyed amounts. */
  supply(token: string): bigint
  tokens(): readonly string[]
  holders(token: string): Ranked
  voters(producer: string): Ranked
  collections(): readonly string[]
  /** The number of NFTs of a collection that each owner has. */
  nftOwners(collection: string): Ranked
  wealth(): readonly Wealth[]
  /** Number of rows of a list; 0 if the list does not exist. */
  count(key: string): number
  /** Keys of all lists. */
  keys(): readonly string[]
  /** Rows with ordinals `first` … `last` (from 1) of a list, oldest first. */
  rows(key: string, first: number, last: number): readonly Row[]
  readonly accounts: number
  /** The number of transactions without base transactions. */
  readonly transactions: number
  readonly records: number
  /** The number of blocks signed by a producer. */
  blocksOf(account: string): number
}

const byAmount = ([a, x]: readonly [string, bigint], [b, y]: readonly [string, bigint]): number =>
  x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1

const ranked = (names: ReadonlyMap<string, bigint> | undefined): Ranked =>
  [...(names ?? [])].filter(([, units]) => units > 0n).sort(byAmount)

/** Each producer makes six blocks in a row. `signed` counts the blocks of a producer among 1 … `last`. */
const TURN = 6
function signed(producers: number, index: number, last: number): number {
  const round = TURN * producers
  const blocks = last + 1
  const rest = Math.min(TURN, Math.max(0, (blocks % round) - index * TURN))
  // Block 0 belongs to the first producer's turn, but has no producer.
  return Math.floor(blocks / round) * TURN + rest - (index === 0 ? 1 : 0)
}

/** Block rewards: each block pays the producer of its parent, and block 1 pays `0`. */
function addRewards(world: World, tally: Tally, height: number): void {
  if (height === 0) return
  const { producers } = world
  const { units } = rewardOf(world, 1)
  const pay = (account: string, blocks: number): void => {
    if (blocks === 0) return
    addTo(tally.tables.balances, 'contribute', account, BigInt(units) * BigInt(blocks))
    addTo(tally.tables.figures, 'issued', 'contribute', BigInt(units) * BigInt(blocks))
  }
  pay('0', 1)
  producers.forEach(({ account }, index) => {
    pay(account, signed(producers.length, index, height - 1))
  })
}

/** The effects and rows of the inflation, which the tally leaves out as it does not follow the cycles. */
function addInflation(world: World, tally: Tally, height: number): void {
  const { lists, figures } = tally.tables
  for (let count = inflationsUntil(world, height); count > 0; count -= 1) {
    for (const effect of inflationTx().effects) applyEffect(tally, effect)
    for (const { keys } of inflationRows(height, tally.deployed)) {
      addTo(figures, 'chain', 'rows', 1n)
      for (const key of keys) addTo(lists, ...partsOf(key), 1n)
    }
  }
}

const isSystem = (owner: string): boolean => owner.endsWith('.iost')

/** The truth after block `height`. Time and memory do not grow with the number of cycles, except for newcomers. */
export function truthAt(world: World, height: number, tally: Tally = tallyAt(world, height)): Truth {
  addRewards(world, tally, height)
  addInflation(world, tally, height)
  const { balances, votes, nfts, lists, figures } = tally.tables
  const balance = (token: string, owner: string): bigint => balances.get(token)?.get(owner) ?? 0n
  const figure = (name: string): number => Number(figures.get('chain')?.get(name) ?? 0n)
  const count = (key: string): number => {
    const [kind, rest] = partsOf(key)
    return Number(lists.get(kind)?.get(rest) ?? 0n)
  }
  return {
    height,
    balance,
    frozen: (token, owner) =>
      tally.frozen
        .filter(entry => entry.token === token && entry.owner === owner)
        .sort((a, b) => Number(a.due - b.due || a.units - b.units)),
    supply: token => figures.get('issued')?.get(token) ?? 0n,
    tokens: () => [...(figures.get('issued')?.keys() ?? [])],
    holders: token => ranked(balances.get(token)),
    voters: producer => ranked(votes.get(producer)),
    collections: () => [...nfts.keys()],
    nftOwners: collection => ranked(nfts.get(collection)),
    wealth: () => wealthOf(tally, balance),
    count,
    keys: () =>
      [...lists].flatMap(([kind, names]) => [...names.keys()].map(name => (name === '' ? kind : `${kind}/${name}`))),
    rows: (key, first, last) => rowsOf(world, height, key, first, last),
    accounts: figure('accounts'),
    transactions: figure('transactions'),
    records: figure('rows'),
    blocksOf: account =>
      signed(
        world.producers.length,
        world.producers.findIndex(one => one.account === account),
        height,
      ),
  }
}

function wealthOf(tally: Tally, balance: Truth['balance']): readonly Wealth[] {
  const voted = new Map<string, bigint>()
  for (const voters of tally.tables.votes.values())
    for (const [voter, units] of voters) voted.set(voter, (voted.get(voter) ?? 0n) + units)
  const locked = new Map<string, bigint>()
  for (const { token, owner, units } of tally.frozen)
    if (token === 'iost') locked.set(owner, (locked.get(owner) ?? 0n) + units)
  return [...tally.owners]
    .filter(owner => !isSystem(owner))
    .map(owner => {
      const [token, vote, frozen] = [balance('iost', owner), voted.get(owner) ?? 0n, locked.get(owner) ?? 0n]
      return { owner, total: token + vote + frozen, token, vote, frozen }
    })
    .filter(({ total }) => total > 0n)
    .sort((a, b) => (a.total === b.total ? (a.owner < b.owner ? -1 : 1) : a.total > b.total ? -1 : 1))
}

/**
 * Rows of a list, read from the blocks that can contain them. A list gains the same number of rows in every cycle and
 * by every inflation, which give the cycle of an ordinal. Lists of newcomers are short and begin with their cycle.
 */
function rowsOf(world: World, height: number, key: string, first: number, last: number): readonly Row[] {
  const deployed = new Set<string>()
  const { from, ordinal } = startOf(world, key, first)
  // Contracts are only deployed in the first two blocks.
  if (from > 0) for (const _ of rowsBetween(world, 0, 1, deployed));
  const rows: Row[] = []
  let next = ordinal
  for (const row of rowsBetween(world, from, height, deployed)) {
    if (!row.keys.includes(key)) continue
    if (next >= first) rows.push(row)
    next += 1
    if (next > last) break
  }
  return rows
}

/** Rows of a list before the cycles, in each cycle, and by each inflation. */
type Counts = { readonly dawn: number; readonly cycle: number; readonly inflation: number }

function countsOf(world: World, key: string): Counts {
  const { dawn, settings } = world
  let [before, within] = [0, 0]
  const deployed = new Set<string>()
  for (const { keys, height, position } of rowsBetween(world, 0, dawn + settings.cycle - 1, deployed)) {
    const isInflation = height > 0 && position === 0
    if (isInflation || !keys.includes(key)) continue
    if (height < dawn) before += 1
    else within += 1
  }
  const inflation = inflationRows(0, deployed).filter(({ keys }) => keys.includes(key)).length
  return { dawn: before, cycle: within, inflation }
}

/** A block from which to read, and the ordinal of the list's first row from there on. */
function startOf(world: World, key: string, first: number): { readonly from: number; readonly ordinal: number } {
  const { dawn, settings } = world
  const [, born] = /^[a-z]+\/n([0-9a-z]+)_[0-9a-z]+(?:\/.*)?$/.exec(key) ?? []
  if (born !== undefined) return { from: dawn + Number.parseInt(born, 36) * settings.cycle, ordinal: 1 }
  const counts = countsOf(world, key)
  const startsAt = (cycles: number): number => dawn + cycles * settings.cycle
  const rowsBefore = (cycles: number): number =>
    counts.dawn + cycles * counts.cycle + inflationsUntil(world, startsAt(cycles) - 1) * counts.inflation
  // The last cycle that begins before the ordinal.
  let [low, high] = [0, Math.ceil(settings.blocks / settings.cycle)]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (rowsBefore(middle) < first) low = middle
    else high = middle - 1
  }
  return rowsBefore(low) < first ? { from: startsAt(low), ordinal: rowsBefore(low) + 1 } : { from: 0, ordinal: 1 }
}
