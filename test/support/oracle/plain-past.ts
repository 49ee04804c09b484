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
      for (const [payer, bytes] of tx.receipt.ramUsage)
        if (!payer.endsWith('.iost')) add('ram', owners.get(payer) ?? payer, -bytes)
    })
  }
  return { changes, times }
}

const noteOwners = (tx: Transaction, owners: Map<string, string>): void => {
  for (const { contract, actionName } of tx.actions)
    if (contract === 'system.iost' && actionName === 'setCode') owners.set(`Contract${tx.hash}`, tx.publisher)
}

/** What an owner had after a block, with the frozen amounts by time, then amount. */
export const plainHeld = ({ changes, times }: PlainPast, id: string, height: number) => {
  const now = times[height] ?? 0n
  const until = (changes.get(id) ?? []).filter(each => each.height <= height)
  const total = until.reduce((sum, { change }) => sum + change, 0n)
  const list = until
    .flatMap(({ change, until: due }) => (due === undefined || due <= now ? [] : [[change, due] as const]))
    .toSorted(([a, early], [b, late]) => (early === late ? (a < b ? -1 : 1) : early < late ? -1 : 1))
  const frozen = list.reduce((sum, [amount]) => sum + amount, 0n)
  return {
    available: total - frozen,
    frozen,
    list: list.map(([amount, due]) => [String(amount), String(due)]),
  }
}
