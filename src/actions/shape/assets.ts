import { Type } from '@sinclair/typebox'
import type { Unclaimed } from '../find/unclaimed.ts'
import { defineRows, exact, shape, sourced, text } from './results.ts'
import { toIost } from './values.ts'

/** IOST of an owner by state. */
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
/** Details of unclaimed rewards. */
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
