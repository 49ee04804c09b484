import { balanceId, balances } from '#indices/balance.ts'
import { type Held, heldAt } from '#indices/series-replay.ts'
import type { View } from '#store/port.ts'
import { wholeOrder } from '../list/whole-list.ts'
import type { Moment } from './point.ts'
import { heldThenAll } from './series.ts'

/** An owner's amounts of one token. */
export type HeldToken = Held & { readonly token: string }

/** All tokens of which an owner has an amount, available or frozen, by symbol. `then`: the amounts after that block. */
export const heldTokens = (view: View, owner: string, then: Moment | undefined): Promise<readonly HeldToken[]> =>
  then === undefined ? tokensNow(view, owner) : tokensThen(view, owner, then)

const tokensNow = async (view: View, owner: string): Promise<readonly HeldToken[]> => {
  const docs = await wholeOrder(view, { index: balances, order: 'ofOwner', group: owner })
  return docs.map(({ token, amount, frozen, frozen_list }) => ({
    token,
    available: amount,
    frozen,
    list: frozen_list,
  }))
}

/** Checks every token of which the owner ever had an amount. */
const tokensThen = async (view: View, owner: string, { height }: Moment): Promise<readonly HeldToken[]> => {
  const docs = await wholeOrder(view, { index: balances, order: 'rowsOfOwner', group: owner })
  const ids = docs.map(({ token }) => balanceId(token, owner))
  const held = await heldThenAll(view, ids, height)
  return docs
    .map(({ token }, at) => ({ ...(held[at] ?? heldAt([])), token }))
    .filter(({ available, frozen }) => available > 0n || frozen > 0n)
}
