import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { Exact } from '#chain/json.ts'
import { seriesOf } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { type VoteDoc, votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import type { HeldToken, Unclaimed } from '../find/holdings.ts'
import { wholeOrder } from '../find/listing.ts'
import { readVotes } from '../find/series.ts'
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

const orNull = (units: bigint | null) => (units === null ? null : toIost(units))

/** Amounts as numbers, with their sum, which is null if any amount is unknown. */
export function iostShown(parts: Readonly<Record<string, bigint | null>>) {
  const known = Object.values(parts).filter(units => units !== null)
  return {
    ...Object.fromEntries(Object.entries(parts).map(([name, units]) => [name, orNull(units)])),
    total: known.length < Object.keys(parts).length ? null : toIost(known.reduce((sum, units) => sum + units, 0n)),
  }
}

export const unclaimedShown = ({ asVoter, byProducer, asProducer, forItsVoters }: Unclaimed) => ({
  by_producer: byProducer.map(([producer, amount]) => ({ producer, amount: orNull(amount) })),
  producer_reward_for_voters: orNull(forItsVoters),
  ...(asVoter === null || asProducer === null ? { reason: 'no_receipts' } : {}),
})

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

/** Rows about the tokens that an owner has. */
export async function heldTokenRows(view: View, held: readonly HeldToken[]) {
  const ids = held.map(({ token }) => token)
  const known = await view.getMany(tokens, ids)
  return held.map(({ token, available, frozen, list }, at) => {
    const { decimal = 0, full_name = '' } = known[at] ?? {}
    return {
      symbol: token,
      balance: fromUnits(available, decimal),
      frozen_balance: fromUnits(frozen, decimal),
      full_name,
      decimal,
      frozen_list: list.map(([amount, time]) => ({ amount: fromUnits(BigInt(amount), decimal), time })),
    }
  })
}

export type HeldTokenRow = Awaited<ReturnType<typeof heldTokenRows>>[number]

export const ballot = shape({
  option: text('The producer.', '生产者。'),
  votes: exact('Votes, in IOST.', '投票数量（IOST）。'),
  cleared_votes: exact('Cleared votes; always 0.', '已清除的票数；恒为 0。'),
})

/** The votes of an owner: largest first, then by name. `total` in 10^-8 IOST. */
export async function readBallots(view: View, owner: string) {
  const docs = await wholeOrder(view, { index: votes, order: 'ofVoter', group: owner })
  return shownBallots(docs)
}

/** The votes of an owner after the block at `height`, in the same form. */
export async function readPastBallots(view: View, owner: string, height: number) {
  const then = await readVotes(view, seriesOf.voter(owner), height)
  const docs = [...then].map(([producer, votes]) => ({ producer, votes }))
  return shownBallots(
    docs.sort((a, b) => (a.votes === b.votes ? (a.producer < b.producer ? -1 : 1) : a.votes > b.votes ? -1 : 1)),
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
