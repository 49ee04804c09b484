import type { Block, Transaction } from '#chain/block.ts'
import { argumentsOf, moveOf } from './receipts.ts'

/** A change of an owner's balance of a token in the blocks, in the token's smallest unit. */
type PlainChange = {
  readonly height: number
  readonly tx: number
  readonly change: bigint
  /** Time until which it is frozen, in ns. Absent: available at once. */
  readonly until?: bigint
  /** What is frozen, if it was the owner's own; the change is 0 then. */
  readonly own?: bigint
}

/** All balance changes by `token/owner`, and the time of every block. Independent of `src/derive`. */
export type PlainPast = {
  readonly changes: ReadonlyMap<string, readonly PlainChange[]>
  readonly times: readonly bigint[]
}

/** `"1.5"` with 3 decimals is 1500. Further digits are cut off. */
function unitsIn(text: string, decimals: number): bigint {
  const [whole = '0', part = ''] = text.split('.')
  return BigInt(whole + part.slice(0, decimals).padEnd(decimals, '0'))
}

/** Collects every change from the blocks, starting with genesis. */
export function plainPast(blocks: Iterable<Block>): PlainPast {
  const changes = new Map<string, PlainChange[]>()
  const times: bigint[] = []
  const decimals = new Map<string, number>()
  const owners = new Map<string, string>()
  for (const { height, time, transactions } of blocks) {
    times.push(time)
    transactions.forEach((tx, at) => {
      const isApplied = tx.receipt.statusCode === 'SUCCESS' && tx.delay === 0n
      const add = (token: string, owner: string, change: bigint, until?: bigint): void => {
        const of = changes.get(`${token}/${owner}`) ?? []
        changes.set(`${token}/${owner}`, of)
        of.push({ height, tx: at, change, ...(until === undefined || until <= time ? {} : { until }) })
      }
      /** An owner freezes its own amount. It changes nothing if that is due at once. */
      const addOwn = (id: string, own: bigint, until: bigint): void => {
        if (until > time) changes.set(id, [...(changes.get(id) ?? []), { height, tx: at, change: 0n, until, own }])
      }
      for (const receipt of isApplied ? tx.receipt.receipts : []) {
        if (receipt.funcName === 'token.iost/create') {
          const [token = '', , , config = ''] = argumentsOf(receipt)
          decimals.set(token, JSON.parse(Buffer.from(config, 'base64').toString()).decimal ?? 8)
        }
        const move = moveOf(receipt)
        if (move === undefined) continue
        const { token, from, to, until } = move
        const amount = unitsIn(move.amount, decimals.get(token) ?? 8)
        // A transfer to the sender itself changes nothing.
        if (from === to && until !== undefined) addOwn(`${token}/${from}`, amount, until)
        if (from === to) continue
        if (from !== '') add(token, from, -amount)
        if (to !== '') add(token, to, amount, until)
      }
      if (isApplied) noteOwners(tx, owners)
      // A payer has one change even if it pays for several contracts.
      const paid = new Map<string, bigint>()
      for (const [payer, bytes] of tx.receipt.ramUsage) {
        const owner = owners.get(payer) ?? payer
        if (!payer.endsWith('.iost')) paid.set(owner, (paid.get(owner) ?? 0n) + bytes)
      }
      for (const [owner, bytes] of paid) add('ram', owner, -bytes)
    })
  }
  return { changes, times }
}

function noteOwners(tx: Transaction, owners: Map<string, string>): void {
  for (const { contract, actionName } of tx.actions)
    if (contract === 'system.iost' && actionName === 'setCode') owners.set(`Contract${tx.hash}`, tx.publisher)
}

/** Running sums and frozen amounts, computed once per owner: summing a busy owner at every height takes minutes. */
const known = new WeakMap<readonly PlainChange[], { sums: readonly bigint[]; frozen: readonly PlainChange[] }>()

function sumChanges(changes: readonly PlainChange[]) {
  let sum = 0n
  const sums = changes.map(({ change }) => {
    sum += change
    return sum
  })
  const made = { sums, frozen: changes.filter(({ until }) => until !== undefined) }
  known.set(changes, made)
  return made
}

/** The number of changes or rows up to a height. They are in the order of the chain. */
export function countUpTo(changes: readonly { readonly height: number }[], height: number): number {
  let [from, to] = [0, changes.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((changes[middle]?.height ?? 0) <= height) from = middle + 1
    else to = middle
  }
  return from
}

/** An owner's balance after a block, with the frozen amounts by time, then amount. */
export function plainHeld({ changes, times }: PlainPast, id: string, height: number) {
  const now = times[height] ?? 0n
  const all = changes.get(id) ?? []
  const { sums, frozen: everFrozen } = known.get(all) ?? sumChanges(all)
  const total = sums[countUpTo(all, height) - 1] ?? 0n
  const list = everFrozen
    .flatMap(({ height: at, change, own = change, until = 0n }) =>
      at > height || until <= now ? [] : [[own, until] as const],
    )
    .toSorted(([a, early], [b, late]) => (early === late ? (a < b ? -1 : 1) : early < late ? -1 : 1))
  const frozen = list.reduce((sum, [amount]) => sum + amount, 0n)
  return {
    available: total - frozen,
    frozen,
    list: list.map(([amount, due]) => [String(amount), String(due)]),
  }
}
