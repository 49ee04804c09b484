import { candidateVotes, payable } from '#chain/stake.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { formatDoubt, type Held, parseHeld, seriesOf, type Votes } from '#indices/series.ts'
import type { View } from '#store/port.ts'
import { wholeOrder } from './listing.ts'
import type { StateMoment } from './point.ts'
import { NO_FLOWS, readFlows, readHeldOfAll, readSums, readVotesOfAll, readVotesSeries } from './series.ts'

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
  const held = await readHeldOfAll(view, ids, height)
  return docs
    .map(({ token }, at) => ({ ...(held[at] ?? parseHeld([])), token }))
    .filter(({ available, frozen }) => available > 0n || frozen > 0n)
}

/**
 * Amounts that withdrawals would pay, in 10^-8 IOST. null: part of it was earned while the contract wrote no receipts.
 */
export type Unclaimed = {
  /** To the owner as a voter: the sum, rounded down once; each part `byProducer` is rounded down by itself. */
  readonly asVoter: bigint | null
  readonly byProducer: readonly (readonly [producer: string, amount: bigint | null])[]
  /** To the owner as a producer: half of the bonus; its voters get the other half. */
  readonly asProducer: bigint | null
  readonly forItsVoters: bigint | null
}

/** The amounts that an owner with these votes could withdraw after a block. */
export async function readUnclaimed(
  view: View,
  { owner, votes, height }: { readonly owner: string; readonly votes: Votes; readonly height: number },
): Promise<Unclaimed> {
  const producers = [...votes.keys()].sort()
  const [[masks = NONE, mask = NONE], [own = 0n, shared = 0n, ...coefficients]] = await Promise.all([
    readVotesOfAll(view, [seriesOf.voterMasks(owner), seriesOf.candidateMask(owner)], height),
    readSums(
      view,
      [seriesOf.producer(owner), seriesOf.candidatesCoefficient, ...producers.map(seriesOf.votersCoefficient)],
      height,
    ),
  ])
  const earned = producers.map((producer, at) =>
    masks.has(formatDoubt(producer))
      ? null
      : (coefficients[at] ?? 0n) * (votes.get(producer) ?? 0n) - (masks.get(producer) ?? 0n),
  )
  return {
    ...(mask.has(formatDoubt('')) ? UNKNOWN : splitBonus(payable(shared * candidateVotes(own) - (mask.get('') ?? 0n)))),
    asVoter: earned.includes(null) ? null : payable(earned.reduce<bigint>((sum, each) => sum + (each ?? 0n), 0n)),
    byProducer: producers
      .map((producer, at) => [producer, toPayable(earned[at])] as const)
      .filter(([, amount]) => amount !== 0n),
  }
}

/** A producer's half of the candidate bonus after each of several blocks; null: not known. -1: before the chain. */
export async function readCandidateBonuses(
  view: View,
  producer: string,
  heights: readonly number[],
): Promise<readonly (bigint | null)[]> {
  const [masks, coefficients, votes] = await Promise.all([
    readVotesSeries(view, seriesOf.candidateMask(producer), heights),
    readFlows(view, seriesOf.candidatesCoefficient, heights),
    readFlows(view, seriesOf.producer(producer), heights),
  ])
  return heights.map((_height, at) => {
    const mask = masks[at] ?? NONE
    if (mask.has(formatDoubt(''))) return null
    const [shared = NO_FLOWS, own = NO_FLOWS] = [coefficients[at], votes[at]]
    const earned = (shared.gained - shared.lost) * candidateVotes(own.gained - own.lost) - (mask.get('') ?? 0n)
    return splitBonus(payable(earned)).asProducer
  })
}

const toPayable = (earned: bigint | null | undefined): bigint | null => (earned === null ? null : payable(earned ?? 0n))

const NONE: Votes = new Map()
const UNKNOWN = { asProducer: null, forItsVoters: null }

/** The producer's half is rounded down. */
const splitBonus = (bonus: bigint) => ({ asProducer: bonus / 2n, forItsVoters: bonus - bonus / 2n })
