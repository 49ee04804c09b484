import { collecting } from './cycle-nfts.ts'
import { type At, name } from './cycle-place.ts'
import { HUB_INDEX, type Kind, MOST, type Plan } from './cycle-plan.ts'
import { exchanging, joining, minting, pledging, ramTrade, storing, telling, voting } from './cycle-system.ts'
import { fail, freezing, move, multi, play, route, twins } from './cycle-transfers.ts'
import { TOKENS } from './names.ts'
import { mix } from './random.ts'
import { BROKEN, emptyTx, NO_BALANCE, type Tx } from './transaction.ts'
import type { World } from './world.ts'

const FILL: Readonly<Record<Kind, (at: At, plan: Plan) => void>> = {
  iost: (at, plan) => move(at, plan, TOKENS.iost, MOST.iost),
  nft: collecting,
  coin: (at, plan) => move(at, plan, TOKENS.coin, MOST.coin),
  play,
  route,
  multi,
  twins,
  failed: (at, plan) => fail(at, plan, BROKEN),
  poor: (at, plan) => fail(at, plan, NO_BALANCE),
  freeze: freezing,
  unvote: voting,
  pledge: pledging,
  ram: ramTrade,
  store: storing,
  mint: minting,
  signUp: joining,
  exchange: exchanging,
  text: telling,
  // This transaction has no action.
  none: (at, plan) => {
    at.tx.publisher = name(at, plan.a === HUB_INDEX ? 0 : plan.a)
  },
}

/** The k-th transaction of a cycle. */
export function cycleTransaction(world: World, cycle: number, k: number): Tx {
  const { schedule, settings, plan } = world
  const half = schedule.count / 2
  const back = k >= half
  const j = back ? k - half : k
  const tx = emptyTx('', 200_000 + (mix(settings.seed, 5, k, cycle) % 2_000_000))
  const planned = plan.read(j)
  FILL[planned.kind]({ world, cycle, k, j, back, tx, drawn: mix(settings.seed, 6, j, cycle) }, planned)
  return tx
}
