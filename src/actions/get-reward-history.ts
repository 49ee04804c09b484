import { Type } from '@sinclair/typebox'
import { producers } from '#indices/producer.ts'
import { seriesOf } from '#indices/series.ts'
import type { Entry } from '#indices/series-entry.ts'
import type { Numbered } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { numberedRows } from './find/numbered.ts'
import { openChangeList, type SeriesChange } from './find/series.ts'
import { defineList } from './list/paging.ts'
import { paging, producer, sort } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { checkSteps, step } from './request/steps.ts'
import { changeFields, changeRows } from './shape/changes.ts'
import { exact, listOfRows, shape, text } from './shape/results.ts'
import { rewardStep, rewardSteps } from './shape/reward-steps.ts'
import { toIost } from './shape/values.ts'

const { seq: rewardSeq, ...rewardFields } = {
  ...changeFields,
  action_name: text(
    'exchangeIOST: the producer exchanged contribute for IOST. candidateWithdraw: it withdrew its half of a candidate bonus, and its voters were given the other half. topupVoterBonus: somebody added an amount for its voters. voterWithdraw: a voter withdrew what came from this producer.',
    'exchangeIOST：生产者将 contribute 兑换为 IOST。candidateWithdraw：生产者领取候选人奖励中属于自己的一半，另一半归其投票者。topupVoterBonus：有人为其投票者追加奖励。voterWithdraw：某投票者领取来自该生产者的奖励。',
  ),
  producer_amount: exact('Amount paid to the producer itself, in IOST.', '生产者本身得到的数量（IOST）。'),
  added_for_voters: exact('Amount added for its voters, in IOST.', '为其投票者增加的数量（IOST）。'),
  taken_by_voters: exact('Amount withdrawn by a voter, in IOST.', '投票者从中领取的数量（IOST）。'),
}
const title = { en: 'Changes of this page.', zh: '变动列表。' }

/** Rewards of a producer and its voters. */
export const getRewardHistory = defineList({
  module: 'producer',
  action: 'get-reward-history',
  title: { en: 'Rewards of a producer over time', zh: '生产者奖励历史' },
  summary: {
    en: 'Every payment to a producer, every addition for its voters, and every withdrawal by its voters, newest first; sort=asc returns the exact reverse. With step, the rows are UTC days, weeks or months instead, newest first, those without a change included, at most 400, with sums. Weeks and months are whole, also where start_date or end_date is within one; with blocks or times, the first and the last of them have the figures of their part within the range. Without a start they are those of the last 30 days. Each row is what the receipt says, so a candidate bonus has a row when it is withdrawn; with step, candidate_bonus_earned is what was earned of it by then. The contribute that blocks are paid with has no rows of its own; it is the balance of the token contribute, and a sum with step. Producers that are no longer registered can be queried, too. The parameter may also be named account.',
    zh: '对生产者的每笔支付、为其投票者追加的每笔奖励以及投票者领取的每笔奖励，最新的在前；sort=asc 时顺序完全相反。提供 step 时改为按 UTC 日、周或月返回合计，最新的在前，没有变动的也包括在内，最多 400 行。周与月总是完整的，即使 start_date 或 end_date 在其中间；以区块或时间限定时，首尾两个周期只含区间内部分的数值。不提供起点时为涵盖最近 30 天的各个周期。每行均与收据一致，因此候选人奖励在领取时才有记录；使用 step 时 candidate_bonus_earned 为期间所得。出块所得的 contribute 没有单独的记录：其数量即代币 contribute 的余额，使用 step 时另有合计。已注销的生产者也可查询。参数名也可写作 account。',
  },
  params: Type.Object({
    producer: producer(['account']),
    step: Type.Optional(step()),
    ...paging,
    sort: sort(),
    ...range,
  }),
  check: requested => {
    checkRange(requested)
    checkSteps(requested)
  },
  result: listOfRows('rewards', Type.Union([shape({ seq: rewardSeq, ...rewardFields }), rewardStep]), title),
  compatResult: listOfRows('rewards', Type.Union([shape(rewardFields), rewardStep]), title),
  list: 'rewards',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { producer: account, ...requested }) => {
      const { view, compat } = context
      if ((await view.get(producers, account)) === undefined) throw unknown(context, 'producer', account)
      if (requested.step !== undefined)
        return rewardSteps<Numbered<SeriesChange>>(context, account, { ...requested, step: requested.step })
      const all = await openChangeList(view, seriesOf.rewards(account))
      return { ...(await numberedRows(context, all, requested)), rows: changeRows(NOTHING, compat, shown) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000', page: '1', size: '5' },
})

/** Rows have no running total. */
const NOTHING = { from: () => null, after: () => null }

const shown = ({ change, more: [kind = '', other = '0'] }: Entry) => ({
  action_name: NAMES.get(kind) ?? kind,
  producer_amount: toIost(kind === 'exchange' || kind === 'candidate' ? change : 0n),
  added_for_voters: toIost(kind === 'candidate' ? BigInt(other) : kind === 'topup' ? change : 0n),
  taken_by_voters: toIost(kind === 'voters' ? change : 0n),
})

const NAMES: ReadonlyMap<string, string> = new Map([
  ['exchange', 'exchangeIOST'],
  ['candidate', 'candidateWithdraw'],
  ['topup', 'topupVoterBonus'],
  ['voters', 'voterWithdraw'],
])
