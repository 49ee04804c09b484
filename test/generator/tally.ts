import { userTransactions } from './content.ts'
import { rowsOfTransaction } from './rows.ts'
import type { Effect, Tx } from './transaction.ts'
import type { World } from './world.ts'

/** Sums by two keys. */
export type Table = Map<string, Map<string, bigint>>

/** The tables by name. */
export const TABLES = ['balances', 'votes', 'nfts', 'lists', 'figures'] as const

/** The counted sums. Each grows by the same amount in every cycle, except for those of newcomers. */
type Tables = {
  /** Token → owner: available amount, without frozen amounts. */
  readonly balances: Table
  /** Producer → voter: votes. */
  readonly votes: Table
  /** Collection of NFTs → owner: number of NFTs. */
  readonly nfts: Table
  /**
   * Kind of list (`account`, `failed`, `contract`, `action`, `called`, `created`, `token`, `moved`,
   * `contracts`) → rest of the list's key: rows.
   */
  readonly lists: Table
  /** `issued` → token: supply; `chain` → `rows`, `transactions` and `accounts`: numbers. */
  readonly figures: Table
}

export type Frozen = {
  readonly token: string
  readonly owner: string
  readonly units: bigint
  readonly due: bigint
}

/** The sum of the effects of all transactions. Block rewards are not included (`truth.ts` adds them). */
export type Tally = {
  readonly tables: Tables
  readonly deployed: Set<string>
  /** Accounts that signed up, and user contracts. */
  readonly owners: Set<string>
  readonly producers: Set<string>
  frozen: Frozen[]
}

export const emptyTally = (): Tally => ({
  tables: { balances: new Map(), votes: new Map(), nfts: new Map(), lists: new Map(), figures: new Map() },
  deployed: new Set(),
  owners: new Set(),
  producers: new Set(),
  frozen: [],
})

export function addTo(table: Table, group: string, name: string, more: bigint): void {
  const names = table.get(group)
  if (names === undefined) table.set(group, new Map([[name, more]]))
  else names.set(name, (names.get(name) ?? 0n) + more)
}

function move(tally: Tally, token: string, from: string, to: string, units: bigint): void {
  const { balances, figures } = tally.tables
  if (from === '') addTo(figures, 'issued', token, units)
  else addTo(balances, token, from, -units)
  if (to === '') addTo(figures, 'issued', token, -units)
  else addTo(balances, token, to, units)
}

export function applyEffect(tally: Tally, effect: Effect): void {
  const { balances, votes, nfts, figures } = tally.tables
  switch (effect.kind) {
    case 'create':
      addTo(figures, 'issued', effect.token, 0n)
      return
    case 'move':
      move(tally, effect.token, effect.from, effect.to, BigInt(effect.units))
      return
    case 'freeze': {
      const { token, from, to, units, due } = effect
      addTo(balances, token, from, -BigInt(units))
      tally.frozen.push({ token, owner: to, units: BigInt(units), due: BigInt(due) })
      return
    }
    case 'vote':
      addTo(votes, effect.producer, effect.voter, BigInt(effect.units))
      return
    case 'nft':
      if (effect.from !== '') addTo(nfts, effect.collection, effect.from, -1n)
      addTo(nfts, effect.collection, effect.to, 1n)
      return
    case 'ram':
      addTo(balances, 'ram', effect.owner, -BigInt(effect.bytes))
      return
    case 'signUp':
      tally.owners.add(effect.name)
      addTo(figures, 'chain', 'accounts', 1n)
      return
    case 'deploy':
      tally.deployed.add(effect.contract)
      if (effect.contract.startsWith('Contract')) tally.owners.add(effect.contract)
      return
    case 'producer':
      tally.producers.add(effect.account)
  }
}

/** Kind and rest of a list's key. The rest of `contracts` is empty. */
export function partsOf(key: string): [kind: string, rest: string] {
  const [kind = '', ...rest] = key.split('/')
  return [kind, rest.join('/')]
}

function applyTransaction(tally: Tally, tx: Tx, at: { readonly height: number; readonly position: number }): void {
  for (const effect of tx.effects) applyEffect(tally, effect)
  const { lists, figures } = tally.tables
  addTo(figures, 'chain', 'transactions', 1n)
  for (const { keys } of rowsOfTransaction(tx, at, tally.deployed)) {
    addTo(figures, 'chain', 'rows', 1n)
    for (const key of keys) addTo(lists, ...partsOf(key), 1n)
  }
}

/** Adds the effects and rows of blocks `from` … `to`. */
export function addBlocks(world: World, tally: Tally, from: number, to: number): void {
  for (let height = from; height <= to; height += 1) {
    const base = height === 0 ? 0 : 1
    for (const [index, tx] of userTransactions(world, height).entries())
      applyTransaction(tally, tx, { height, position: index + base })
  }
}

/** Makes frozen amounts available that are due at `time`. */
export function release(tally: Tally, time: bigint): void {
  const later: Frozen[] = []
  for (const entry of tally.frozen)
    if (entry.due <= time) addTo(tally.tables.balances, entry.token, entry.owner, entry.units)
    else later.push(entry)
  tally.frozen = later
}
