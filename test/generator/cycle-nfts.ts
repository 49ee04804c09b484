import { type At, call, name } from './cycle-place.ts'
import type { Plan } from './cycle-plan.ts'
import { HUB } from './names.ts'
import { collectionOf, giveNft, issueNft } from './nfts.ts'

/**
 * The hub issues an NFT. In the second half its owner transfers it to another account, sometimes through a contract.
 */
export function collecting(at: At, plan: Plan): void {
  const { world, cycle, j, back, tx } = at
  const collection = collectionOf(plan)
  const id = world.nfts.idOf(collection, cycle, j)
  const [owner, other] = [name(at, plan.a), name(at, plan.b)]
  if (!back) {
    tx.publisher = HUB
    issueNft(tx, collection, owner, id)
    return
  }
  tx.publisher = owner
  // The choice is the same in every cycle, like everything that determines rows.
  const own = j % 2 === 0
  if (!own) call(at, world.contracts[plan.contract] ?? '', 'drop', JSON.stringify([other, id]))
  giveNft(tx, { collection, id }, [owner, other], own)
}
