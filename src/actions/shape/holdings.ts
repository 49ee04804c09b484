import { Type } from '@sinclair/typebox'
import { formatUnits } from '#chain/amount.ts'
import { Exact } from '#chain/json.ts'
import { candidateVotes, truncatePayable } from '#chain/stake.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { formatDoubt, type Held, parseHeld, seriesOf, type Votes } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { type VoteDoc, votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import { readWholeOrder } from '../find/listing.ts'
import type { StateMoment } from '../find/point.ts'
import {
  NO_FLOWS,
  readFlows,
  readHeldOfAll,
  readSums,
  readVotes,
  readVotesOfAll,
  readVotesSeries,
} from '../find/series.ts'
import { count, defineRows, exact, shape, sourced, text } from './results.ts'
import { toIost } from './values.ts'

export const iostAssets = shape({
  available: exact('Available.', '可用。'),
  frozen: exact('Frozen and not due yet.', '已冻结且尚未到期。'),
  votes: exact('Locked in votes for producers.', '投票锁定。'),
  pledged_for_itself: exact('Pledged for gas of its own.', '为自己质押以获取 gas。'),
  pledged_for_others: exact(
    'Pledged for gas of others; it comes back to this account.',
    '为他人质押以获取 gas；赎回后归还本账户。',
  ),
  voter_rewards: sourced(
    'Amount that voterWithdraw would pay. null: not known, see reason.',
    '执行 voterWithdraw 可领取的投票奖励。null 表示无法得知，见 reason。',
  ),
  producer_reward: sourced(
    'Amount that candidateWithdraw would pay the account itself: half of the bonus of a producer. null: not known, see reason.',
    '执行 candidateWithdraw 时账户本身可领取的数量，即候选人奖励的一半。null 表示无法得知，见 reason。',
  ),
  total: sourced('Sum of all of these. null where one of them is.', '以上各项合计。任意一项为 null 时为 null。'),
})
export const unclaimedRewards = shape({
  by_producer: defineRows(
    shape({
      producer: text('The producer that is voted for.', '所投的生产者。'),
      amount: sourced(
        'Amount that voterWithdraw would pay for these votes; null: not known.',
        '这些投票可领取的奖励；null 表示无法得知。',
      ),
    }),
    'voter_rewards by producer, those above 0, sorted by name. Each is cut to 8 decimals, so their sum may be a little less.',
    '按生产者分列的 voter_rewards，仅列大于 0 的，按名称排列。每项均截断到 8 位小数，故合计可能略小。',
  ),
  producer_reward_for_voters: sourced(
    'The other half of the bonus of a producer: candidateWithdraw gives it to its voters. null: not known, see reason.',
    '候选人奖励的另一半，执行 candidateWithdraw 时归其投票者。null 表示无法得知，见 reason。',
  ),
  reason: Type.Optional(
    text(
      'Only where an amount is null: no_receipts, since the votes are of before about 2019-03-21, when vote_producer.iost wrote no receipts. It is known again after the next withdrawal.',
      '仅在有数值为 null 时出现：no_receipts，表示该投票早于约 2019-03-21，当时 vote_producer.iost 不产生收据；下次领取之后即可得知。',
    ),
  ),
})

/** All that an owner has, now or after a block: IOST by state, unclaimed rewards, and the other tokens. */
export async function readAssets(view: View, owner: string, then: StateMoment | undefined) {
  const { height } = then ?? view.at
  const [tokens, [itself = 0n, others = 0n], [votes, unclaimed]] = await Promise.all([
    readHeldTokens(view, owner, then),
    readSums(view, [seriesOf.pledgedForItself(owner), seriesOf.pledgedForOthers(owner)], height),
    readClaims(view, owner, height),
  ])
  const { available, frozen } = tokens.find(({ token }) => token === 'iost') ?? parseHeld([])
  return {
    iost: formatIostParts({
      available,
      frozen,
      votes: [...votes.values()].reduce((sum, each) => sum + each, 0n),
      pledged_for_itself: itself,
      pledged_for_others: others,
      voter_rewards: unclaimed.asVoter,
      producer_reward: unclaimed.asProducer,
    }),
    unclaimed: formatUnclaimed(unclaimed),
    tokens: await readHeldTokenRows(
      view,
      tokens.filter(({ token }) => token !== 'iost'),
    ),
  }
}

/** The votes of an owner after a block, and the amounts that it could withdraw for them. */
async function readClaims(view: View, owner: string, height: number) {
  const votes = await readVotes(view, seriesOf.voter(owner), height)
  return [votes, await readUnclaimed(view, { owner, votes, height })] as const
}

const toIostOrNull = (units: bigint | null) => (units === null ? null : toIost(units))

/** Amounts as numbers, with their sum, which is null if any amount is unknown. */
function formatIostParts(parts: Readonly<Record<string, bigint | null>>) {
  const known = Object.values(parts).filter(units => units !== null)
  return {
    ...Object.fromEntries(Object.entries(parts).map(([name, units]) => [name, toIostOrNull(units)])),
    total: known.length < Object.keys(parts).length ? null : toIost(known.reduce((sum, units) => sum + units, 0n)),
  }
}

const formatUnclaimed = ({ asVoter, byProducer, asProducer, forItsVoters }: Unclaimed) => ({
  by_producer: byProducer.map(([producer, amount]) => ({ producer, amount: toIostOrNull(amount) })),
  producer_reward_for_voters: toIostOrNull(forItsVoters),
  ...(asVoter === null || asProducer === null ? { reason: 'no_receipts' } : {}),
})

/**
 * Amounts that withdrawals would pay, in 10^-8 IOST. null: part of it was earned while the contract wrote no receipts.
 */
type Unclaimed = {
  /** To the owner as a voter: the sum, rounded down once; each part `byProducer` is rounded down by itself. */
  readonly asVoter: bigint | null
  readonly byProducer: readonly (readonly [producer: string, amount: bigint | null])[]
  /** To the owner as a producer: half of the bonus; its voters get the other half. */
  readonly asProducer: bigint | null
  readonly forItsVoters: bigint | null
}

/** The amounts that an owner with these votes could withdraw after a block. */
async function readUnclaimed(
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
    ...(mask.has(formatDoubt(''))
      ? UNKNOWN
      : splitBonus(truncatePayable(shared * candidateVotes(own) - (mask.get('') ?? 0n)))),
    asVoter: earned.includes(null)
      ? null
      : truncatePayable(earned.reduce<bigint>((sum, each) => sum + (each ?? 0n), 0n)),
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
    return splitBonus(truncatePayable(earned)).asProducer
  })
}

const toPayable = (earned: bigint | null | undefined): bigint | null =>
  earned === null ? null : truncatePayable(earned ?? 0n)

const NONE: Votes = new Map()
const UNKNOWN = { asProducer: null, forItsVoters: null }

/** The producer's half is rounded down. */
const splitBonus = (bonus: bigint) => ({ asProducer: bonus / 2n, forItsVoters: bonus - bonus / 2n })

/** Fields of a row about an owner's amounts of a token. */
export const heldTokenFields = {
  symbol: text('Name of the token.', '代币名称。'),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  frozen_balance: text('Frozen balance that is not due yet, in token units.', '尚未到期的冻结余额（代币单位）。'),
  full_name: text('Full name of the token.', '代币全名。'),
  decimal: count('Decimals of the token.', '代币小数位数。'),
  frozen_list: defineRows(
    shape({
      amount: text('Amount, in token units.', '数量（代币单位）。'),
      time: text(
        'Time when the amount becomes available, nanoseconds since 1970.',
        '解冻时间（自 1970 年起的纳秒数）。',
      ),
    }),
    'Amounts still frozen, in the order they were received.',
    '仍处于冻结状态的金额，按收到的先后排列。',
  ),
}

/** Rows about the tokens that an owner has, by symbol. */
export const readTokenRows = async (view: View, owner: string, then: StateMoment | undefined) =>
  readHeldTokenRows(view, await readHeldTokens(view, owner, then))

async function readHeldTokenRows(view: View, held: readonly HeldToken[]) {
  const ids = held.map(({ token }) => token)
  const known = await view.getMany(tokens, ids)
  return held.map(({ token, available, frozen, list }, at) => {
    const { decimal = 0, full_name = '' } = known[at] ?? {}
    return {
      symbol: token,
      balance: formatUnits(available, decimal),
      frozen_balance: formatUnits(frozen, decimal),
      full_name,
      decimal,
      frozen_list: list.map(([amount, time]) => ({ amount: formatUnits(BigInt(amount), decimal), time })),
    }
  })
}

type HeldToken = Held & { readonly token: string }

/** All tokens of which an owner has an amount, available or frozen, by symbol. `then`: the amounts after that block. */
const readHeldTokens = (view: View, owner: string, then: StateMoment | undefined): Promise<readonly HeldToken[]> =>
  then === undefined ? readCurrentTokens(view, owner) : readPastTokens(view, owner, then)

async function readCurrentTokens(view: View, owner: string): Promise<readonly HeldToken[]> {
  const docs = await readWholeOrder(view, { index: balances, order: 'ofOwner', group: owner })
  return docs.map(({ token, amount, frozen, frozen_list }) => ({
    token,
    available: amount,
    frozen,
    list: frozen_list,
  }))
}

/** Checks every token of which the owner ever had an amount. */
async function readPastTokens(view: View, owner: string, { height }: StateMoment): Promise<readonly HeldToken[]> {
  const docs = await readWholeOrder(view, { index: balances, order: 'rowsOfOwner', group: owner })
  const ids = docs.map(({ token }) => balanceId(token, owner))
  const held = await readHeldOfAll(view, ids, height)
  return docs
    .map(({ token }, at) => ({ ...(held[at] ?? parseHeld([])), token }))
    .filter(({ available, frozen }) => available > 0n || frozen > 0n)
}

export const ballot = shape({
  option: text('The producer.', '生产者。'),
  votes: exact('Votes, in IOST.', '投票数量（IOST）。'),
  cleared_votes: exact('Cleared votes; always 0.', '已清除的票数；恒为 0。'),
})

/** The votes of an owner, now or after a block: largest first, then by name. `total` in 10^-8 IOST. */
export async function readBallots(view: View, owner: string, then?: StateMoment) {
  if (then === undefined)
    return shownBallots(await readWholeOrder(view, { index: votes, order: 'ofVoter', group: owner }))
  const given = await readVotes(view, seriesOf.voter(owner), then.height)
  return shownBallots(
    [...given]
      .map(([producer, units]) => ({ producer, votes: units }))
      .sort((a, b) => (a.votes === b.votes ? (a.producer < b.producer ? -1 : 1) : a.votes > b.votes ? -1 : 1)),
  )
}

const shownBallots = (docs: readonly Pick<VoteDoc, 'producer' | 'votes'>[]) => ({
  total: docs.reduce((sum, doc) => sum + doc.votes, 0n),
  ballots: docs.map(doc => ({
    option: doc.producer,
    votes: toIost(doc.votes),
    cleared_votes: new Exact('0'),
  })),
})
