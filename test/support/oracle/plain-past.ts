import type { Block, Transaction } from '#chain/block.ts'

/** A change of what an owner has of a token, in the token's smallest unit, as the blocks say it. */
export type PlainChange = {
  readonly height: number
  readonly tx: number
  readonly change: bigint
  /** Until when it is frozen, ns; absent: available at once. */
  readonly until?: bigint
}

/** What every owner ever had, by `token/owner`, and the time of every block. Shares nothing with `src/derive`. */
export type PlainPast = {
  readonly changes: ReadonlyMap<string, readonly PlainChange[]>
  readonly times: readonly bigint[]
}

/** A receipt's arguments, numbers as their text. */
const argumentsOf = (content: string): readonly string[] =>
  (
    JSON.parse(content, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    ) as readonly unknown[]
  ).map(String)

/** `"1.5"` with 3 decimals is 1500; digits beyond them are cut off. */
const unitsIn = (text: string, decimals: number): bigint => {
  const [whole = '0', part = ''] = text.split('.')
  return BigInt(whole + part.slice(0, decimals).padEnd(decimals, '0'))
}

const decimalsOf = (config: string): number => {
  const { decimal } = JSON.parse(Buffer.from(config, 'base64').toString()) as { decimal?: number }
  return decimal ?? 8
}

/** Goes through the blocks from genesis and writes down every change. */
export const plainPast = (blocks: Iterable<Block>): PlainPast => {
  const changes = new Map<string, PlainChange[]>()
  const times: bigint[] = []
  const decimals = new Map<string, number>()
  const owners = new Map<string, string>()
  for (const { height, time, transactions } of blocks) {
    times.push(time)
    transactions.forEach((tx, at) => {
      if (tx.receipt.statusCode !== 'SUCCESS' || tx.delay !== 0n) return
      const add = (token: string, owner: string, change: bigint, until?: bigint): void => {
        const of = changes.get(`${token}/${owner}`) ?? []
        changes.set(`${token}/${owner}`, of)
        of.push({ height, tx: at, change, ...(until === undefined || until <= time ? {} : { until }) })
      }
      for (const { funcName, content } of tx.receipt.receipts) {
        if (!funcName.startsWith('token.iost/')) continue
        const [token = '', first = '', second = '', third = '', fourth = ''] = argumentsOf(content)
        const units = (text: string): bigint => unitsIn(text, decimals.get(token) ?? 8)
        switch (funcName.slice('token.iost/'.length)) {
          case 'create':
            decimals.set(token, decimalsOf(third))
            break
          case 'issue':
            add(token, first, units(second))
            break
          case 'destroy':
            add(token, first, -units(second))
            break
          case 'transfer':
            // What comes back at once changes nothing.
            if (first === second) break
            add(token, first, -units(third))
            add(token, second, units(third))
            break
          case 'transferFreeze':
            add(token, first, -units(third))
            add(token, second, units(third), BigInt(fourth))
        }
      }
      noteOwners(tx, owners)
      // One change for whoever pays, though it pays for several contracts.
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

const noteOwners = (tx: Transaction, owners: Map<string, string>): void => {
  for (const { contract, actionName } of tx.actions)
    if (contract === 'system.iost' && actionName === 'setCode') owners.set(`Contract${tx.hash}`, tx.publisher)
}

/** What is needed of an owner's changes at any height: sums from the first one on, and those that were frozen. */
type Summed = { readonly sums: readonly bigint[]; readonly frozen: readonly PlainChange[] }

/** Once for each owner: adding up all changes anew at every height of a busy one takes minutes. */
const summed = new WeakMap<readonly PlainChange[], Summed>()

const summedOf = (changes: readonly PlainChange[]): Summed => {
  const known = summed.get(changes)
  if (known !== undefined) return known
  let sum = 0n
  const sums = changes.map(({ change }) => {
    sum += change
    return sum
  })
  const made = { sums, frozen: changes.filter(({ until }) => until !== undefined) }
  summed.set(changes, made)
  return made
}

/** Number of the changes up to a height, which are in the order of the chain. */
const countUpTo = (changes: readonly PlainChange[], height: number): number => {
  let [from, to] = [0, changes.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((changes[middle]?.height ?? 0) <= height) from = middle + 1
    else to = middle
  }
  return from
}

/** What an owner had after a block, with the frozen amounts by time, then amount. */
export const plainHeld = ({ changes, times }: PlainPast, id: string, height: number) => {
  const now = times[height] ?? 0n
  const all = changes.get(id) ?? []
  const { sums, frozen: everFrozen } = summedOf(all)
  const total = sums[countUpTo(all, height) - 1] ?? 0n
  const list = everFrozen
    .flatMap(({ height: at, change, until = 0n }) =>
      at > height || until <= now ? [] : [[change, until] as const],
    )
    .toSorted(([a, early], [b, late]) => (early === late ? (a < b ? -1 : 1) : early < late ? -1 : 1))
  const frozen = list.reduce((sum, [amount]) => sum + amount, 0n)
  return {
    available: total - frozen,
    frozen,
    list: list.map(([amount, due]) => [String(amount), String(due)]),
  }
}
