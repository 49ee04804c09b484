import { type BalanceDoc, balanceId, type Frozen } from '#indices/balance.ts'

/** A balance while a block is derived: changed in place, so that thousands of changes cost as many steps. */
export type BalanceDraft = {
  readonly token: string
  readonly owner: string
  readonly before: BalanceDoc | undefined
  amount: bigint
  frozen: bigint
  /** By time, then amount; the document's own array until the first change. */
  list: Frozen[]
  listIsOwn: boolean
}

export const draftOf = (token: string, owner: string, before: BalanceDoc | undefined): BalanceDraft => ({
  token,
  owner,
  before,
  amount: before?.amount ?? 0n,
  frozen: before?.frozen ?? 0n,
  list: (before?.frozen_list ?? []) as Frozen[],
  listIsOwn: false,
})

/**
 * Adds a frozen amount where the node puts it: its list is ordered by time, then amount (go-iost
 * `vm/native/token_v1.go` freezeBalance).
 */
export const freezeIn = (draft: BalanceDraft, amount: bigint, time: bigint): void => {
  own(draft)
  let low = 0
  let high = draft.list.length
  while (low < high) {
    const middle = (low + high) >> 1
    const [otherAmount, otherTime] = draft.list[middle] ?? ['0', '0']
    const later = BigInt(otherTime) - time || BigInt(otherAmount) - amount
    if (later > 0n) high = middle
    else low = middle + 1
  }
  draft.list.splice(low, 0, [String(amount), String(time)])
  draft.frozen += amount
}

/** Makes available what is due at `time`. */
export const release = (draft: BalanceDraft, time: bigint): void => {
  let released = 0n
  let count = 0
  for (const [amount, due] of draft.list) {
    if (BigInt(due) > time) break
    released += BigInt(amount)
    count += 1
  }
  if (count === 0) return
  draft.list = draft.list.slice(count)
  draft.listIsOwn = true
  draft.amount += released
  draft.frozen -= released
}

const own = (draft: BalanceDraft): void => {
  if (draft.listIsOwn) return
  draft.list = [...draft.list]
  draft.listIsOwn = true
}

/** The document a draft has become, undefined when it is as before. */
export const changedBalance = (draft: BalanceDraft): BalanceDoc | undefined => {
  const { before, token, owner, amount, frozen, list } = draft
  if (before !== undefined && before.amount === amount && !draft.listIsOwn) return undefined
  const first = list[0]
  return {
    id: balanceId(token, owner),
    token,
    owner,
    amount,
    frozen,
    frozen_list: list,
    ...(first === undefined ? {} : { next_due: BigInt(first[1]) }),
  }
}
