import { inflates, inflationTx, rewardOf, userTransactions } from './content.ts'
import { inflationRows, type Row, rowsBetween, rowsOfTransaction } from './rows.ts'
import { blockTime } from './time.ts'
import type { Effect, Tx } from './transaction.ts'
import { type World, witnessOf } from './world.ts'

/** Amounts in smallest units, sorted by amount descending, then by name. */
export type Ranked = readonly (readonly [name: string, units: bigint])[]
type Frozen = { readonly token: string; readonly owner: string; readonly units: bigint; readonly due: bigint }

type Table = Map<string, Map<string, bigint>>

function addTo(table: Table, group: string, name: string, more: bigint): void {
  const names = table.get(group) ?? new Map<string, bigint>()
  table.set(group, names.set(name, (names.get(name) ?? 0n) + more))
}

/** The sums of the effects and rows of all transactions. */
function emptyTally() {
  return {
    /** Token → owner: available amount, without frozen amounts. */
    balances: new Map() as Table,
    /** Producer → voter: votes. */
    votes: new Map() as Table,
    /** `issued` → token: supply; `blocks` → producer: number of blocks. */
    figures: new Map() as Table,
    /** Number of rows by the key of their list. */
    lists: new Map<string, number>(),
    deployed: new Set<string>(),
    /** Accounts that signed up, and user contracts. */
    owners: new Set<string>(),
    frozen: [] as Frozen[],
    accounts: 0,
    transactions: 0,
    records: 0,
  }
}
type Tally = ReturnType<typeof emptyTally>

function move(tally: Tally, token: string, from: string, to: string, units: bigint): void {
  const { balances, figures } = tally
  if (from === '') addTo(figures, 'issued', token, units)
  else addTo(balances, token, from, -units)
  if (to === '') addTo(figures, 'issued', token, -units)
  else addTo(balances, token, to, units)
}

function applyEffect(tally: Tally, effect: Effect): void {
  const { balances, votes, figures } = tally
  switch (effect.kind) {
    case 'create':
      addTo(figures, 'issued', effect.token, 0n)
      return
    case 'move':
      move(tally, effect.token, effect.from, effect.to, BigInt(effect.units))
      return
    case 'freeze': {
      const { token, from, to: owner, units, due } = effect
      addTo(balances, token, from, -BigInt(units))
      tally.frozen.push({ token, owner, units: BigInt(units), due: BigInt(due) })
      return
    }
    case 'vote':
      addTo(votes, effect.producer, effect.voter, BigInt(effect.units))
      return
    case 'ram':
      addTo(balances, 'ram', effect.owner, -BigInt(effect.bytes))
      return
    case 'signUp':
      tally.owners.add(effect.name)
      tally.accounts += 1
      return
    case 'deploy':
      tally.deployed.add(effect.contract)
      if (effect.contract.startsWith('Contract')) tally.owners.add(effect.contract)
  }
}

function applyTransaction(tally: Tally, { effects }: Tx, rowsOf: () => readonly Row[]): void {
  for (const effect of effects) applyEffect(tally, effect)
  for (const { keys } of rowsOf()) {
    tally.records += 1
    for (const key of keys) tally.lists.set(key, (tally.lists.get(key) ?? 0) + 1)
  }
}

function tallyAt(world: World, last: number): Tally {
  const tally = emptyTally()
  for (let height = 0; height <= last; height += 1) {
    if (height > 0) {
      const { to, units } = rewardOf(world, height)
      move(tally, 'contribute', '', to, BigInt(units))
      addTo(tally.figures, 'blocks', witnessOf(world, height).account, 1n)
    }
    if (inflates(world, height)) applyTransaction(tally, inflationTx(), () => inflationRows(height, tally.deployed))
    const base = height === 0 ? 0 : 1
    for (const [index, tx] of userTransactions(world, height).entries()) {
      tally.transactions += 1
      applyTransaction(tally, tx, () => rowsOfTransaction(tx, { height, position: index + base }, tally.deployed))
    }
  }
  const now = BigInt(blockTime(world.settings.seed, last))
  for (const { token, owner, units, due } of tally.frozen) if (due <= now) addTo(tally.balances, token, owner, units)
  tally.frozen = tally.frozen.filter(({ due }) => due > now)
  return tally
}

const ranked = (names: ReadonlyMap<string, bigint> | undefined): Ranked =>
  [...(names ?? [])]
    .filter(([, units]) => units > 0n)
    .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))

/** The correct data after a block, computed from the plan of the chain without `src/derive`. */
export function truthAt(world: World, height: number) {
  const tally = tallyAt(world, height)
  const { balances, votes, figures, lists, frozen, accounts, transactions, records } = tally
  return {
    ...{ height, accounts, records },
    /** The number of transactions without base transactions. */
    transactions,
    balance: (token: string, owner: string): bigint => balances.get(token)?.get(owner) ?? 0n,
    /** Amounts that are not yet due, sorted by time. */
    frozen: (token: string, owner: string) =>
      frozen
        .filter(entry => entry.token === token && entry.owner === owner)
        .sort((a, b) => Number(a.due - b.due || a.units - b.units)),
    /** Issued minus destroyed amounts. */
    supply: (token: string): bigint => figures.get('issued')?.get(token) ?? 0n,
    tokens: (): readonly string[] => [...(figures.get('issued')?.keys() ?? [])],
    holders: (token: string) => ranked(balances.get(token)),
    voters: (producer: string) => ranked(votes.get(producer)),
    wealth: () => wealthOf(tally),
    /** Number of rows of a list; 0 if the list does not exist. */
    count: (key: string): number => lists.get(key) ?? 0,
    keys: (): readonly string[] => [...lists.keys()],
    /** Rows with ordinals `first` … `last` (from 1) of a list, oldest first. */
    rows: (key: string, first: number, last: number): readonly Row[] =>
      [...rowsBetween(world, 0, height, new Set())].filter(({ keys }) => keys.includes(key)).slice(first - 1, last),
    /** The number of blocks signed by a producer. */
    blocksOf: (account: string): number => Number(figures.get('blocks')?.get(account) ?? 0n),
  }
}
export type Truth = ReturnType<typeof truthAt>

function wealthOf({ owners, balances, votes, frozen }: Tally) {
  const sums: Table = new Map()
  for (const voters of votes.values()) for (const [voter, units] of voters) addTo(sums, 'vote', voter, units)
  for (const { token, owner, units } of frozen) if (token === 'iost') addTo(sums, 'frozen', owner, units)
  const rows = [...owners]
    .filter(owner => !owner.endsWith('.iost'))
    .map(owner => {
      const token = balances.get('iost')?.get(owner) ?? 0n
      const [vote = 0n, locked = 0n] = ['vote', 'frozen'].map(kind => sums.get(kind)?.get(owner))
      return { owner, total: token + vote + locked, token, vote, frozen: locked }
    })
  const byOwner = new Map(rows.map(row => [row.owner, row]))
  return ranked(new Map(rows.map(({ owner, total }) => [owner, total]))).flatMap(([owner]) => byOwner.get(owner) ?? [])
}
