import { baseReceipts, onlyRewards } from './content.ts'
import { encodedReceipt } from './hashing.ts'
import { OK } from './transaction.ts'
import { type BaseParts, baseParts } from './transaction-text.ts'
import { type World, witnessOf } from './world.ts'

/** A base transaction without its hash, time and the parent's gas, which are all that differs between most blocks. */
type Base = { readonly parts: BaseParts; readonly receipt: Buffer }

function made(world: World, height: number): Base {
  const receipts = baseReceipts(world, height)
  const leaf = { gas: 0, status: OK, message: '', ram: [], returns: ['[""]'], receipts }
  return { parts: baseParts(witnessOf(world, height - 1).key, receipts), receipt: encodedReceipt(leaf) }
}

/** Base transactions by height. Those that only pay the reward are made once per producer. */
export function baseTransactions(world: World): (height: number) => Base {
  const byProducer = new Map<string, Base>()
  return height => {
    if (!onlyRewards(world, height)) return made(world, height)
    const { account } = witnessOf(world, height - 1)
    const known = byProducer.get(account)
    if (known !== undefined) return known
    const fresh = made(world, height)
    byProducer.set(account, fresh)
    return fresh
  }
}
