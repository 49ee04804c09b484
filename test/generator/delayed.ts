import { CONTRACTS } from './cycle-plan.ts'
import { transferAction } from './movements.ts'
import { FOUNDER, HUB, TOKENS } from './names.ts'
import { COLLECTIONS } from './nfts.ts'
import { blockMs } from './time.ts'
import { emptyTx, type Tx } from './transaction.ts'
import { txHash } from './transaction-hash.ts'
import type { World } from './world.ts'

const GAS = 54_321
const COINS = 7_000
const NS_PER_MS = 1_000_000
/** The position after the base transaction, the contracts, two tokens, the hub's share and the collections. */
const POSITION = 1 + CONTRACTS + 3 + COLLECTIONS.length

function moving(given: Parameters<typeof emptyTx>[2]): Tx {
  const tx = emptyTx(FOUNDER, GAS, given)
  transferAction(tx, TOKENS.coin, [FOUNDER, HUB], COINS, 'delayed')
  return tx
}

/** A transaction of block 1 that block 2 executes, as nodes until 3.9.2 accepted it. It has no effects of its own. */
export const delayedTx = (): Tx => ({
  ...moving({ delay: (blockMs(2) - blockMs(1)) * NS_PER_MS }),
  message: 'delayed',
  returns: [],
  receipts: [],
  effects: [],
})

/** The transaction that executes the delayed one. It refers to it by hash, and has no signatures. */
export const carriedTx = ({ seals }: World): Tx =>
  moving({ referred: txHash(seals, delayedTx(), { height: 1, position: POSITION }) })
