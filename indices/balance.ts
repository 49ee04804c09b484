import { countedOrder, type DocOf, defineIndex, json, keyword, optional, sortedLong } from './define.ts'

/** A frozen amount: smallest units and time of release (ns), both as text. */
export type Frozen = readonly [amount: string, time: string]

/** One document per (token, owner). Id: `balanceId`. Amounts in the token's smallest unit. */
export const balances = defineIndex({
  name: 'balances',
  kind: 'state',
  orders: {
    holders: countedOrder(['amount', 'owner'], { group: 'token', positive: true }),
    ofOwner: { group: 'owner', positive: ['amount', 'frozen'], by: [['token', 'asc']] },
    /** All balances that an owner ever had, zero included: any of them shows that the name has occurred. */
    rowsOfOwner: { group: 'owner', by: [['token', 'asc']] },
  },
  fields: {
    token: keyword(),
    owner: keyword(),
    /** Available: the stored amount plus frozen amounts whose time has come. */
    amount: sortedLong(),
    /** Σ of `frozen_list`. */
    frozen: sortedLong(),
    /** Amounts not yet due, by time, then amount: the node's own order. */
    frozen_list: json<readonly Frozen[]>(),
    /** Earliest time in `frozen_list`, nanoseconds. */
    next_due: optional(sortedLong()),
  },
})
export type BalanceDoc = DocOf<typeof balances>

export const balanceId = (token: string, owner: string): string => `${token}/${owner}`

/**
 * Where another frozen amount belongs in the node's order: by time, then amount, after equal ones (go-iost
 * `vm/native/token_v1.go` freezeBalance).
 */
export function findFrozenIndex(list: readonly Frozen[], amount: bigint, time: bigint): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    const [otherAmount, otherTime] = list[middle] ?? ['0', '0']
    const later = BigInt(otherTime) - time || BigInt(otherAmount) - amount
    if (later > 0n) high = middle
    else low = middle + 1
  }
  return low
}
