import { balanceId, balances } from '#indices/balance.ts'
import { type Held, parseHeld } from '#indices/series-replay.ts'
import type { View } from '#store/port.ts'
import { wholeOrder } from '../list/whole-list.ts'
import type { StateMoment } from './point.ts'
import { heldThenAll } from './series.ts'

/** An owner's amounts of one token. */
export type HeldToken = Held & { readonly token: string }

/** All tokens of which an owner has an amount, available or frozen, by symbol. `then`: the amounts after that block. */
export const heldTokens = (view: View, owner: string, then: StateMoment | undefined): Promise<readonly HeldToken[]> =>
  then === undefined ? tokensNow(view, owner) : readPastTokens(view, owner, then)

async function tokensNow(view: View, owner: string): Promise<readonly HeldToken[]> {
  const docs = await wholeOrder(view, { index: balances, order: 'ofOwner', group: owner })
  return docs.map(({ token, amount, frozen, frozen_list }) => ({
    token,
    available: amount,
    frozen,
    list: frozen_list,
  }))
}

/** Checks every token of which the owner ever had an amount. */
async function readPastTokens(view: View, owner: string, { height }: StateMoment): Promise<readonly HeldToken[]> {
  const docs = await wholeOrder(view, { index: balances, order: 'rowsOfOwner', group: owner })
  const ids = docs.map(({ token }) => balanceId(token, owner))
  const held = await heldThenAll(view, ids, height)
  return docs
    .map(({ token }, at) => ({ ...(held[at] ?? parseHeld([])), token }))
    .filter(({ available, frozen }) => available > 0n || frozen > 0n)
}
