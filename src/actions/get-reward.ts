import { Type } from '@sinclair/typebox'
import { formatUnits } from '#chain/amount.ts'
import { Exact } from '#chain/json.ts'
import { formatDate, toIso } from '#chain/time.ts'
import { balanceId } from '#indices/balance.ts'
import { producers } from '#indices/producer.ts'
import { type Entry, parseEntries, series, seriesOf } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import type { Context } from './define.ts'
import { listStepHeights, requestedSteps } from './find/days.ts'
import { createMemoryListing, createStepListing, type Listing, type Numbered } from './find/listing.ts'
import { numberedRows } from './find/numbered.ts'
import { requireNamed } from './find/owner.ts'
import { readVoteShares } from './find/past-ranking.ts'
import { findMoment, type StateMoment } from './find/point.ts'
import {
  createHeightTest,
  findSeries,
  NO_FLOWS,
  openChangeList,
  readFlows,
  readPartRuns,
  type SeriesChange,
} from './find/series.ts'
import { defineList } from './list/paging.ts'
import { paging, pagingIfAsked, producer, sort } from './request/parameter-types.ts'
import {
  type BlockPeriod,
  checkPeriod,
  checkRange,
  checkSteps,
  computeStepBounds,
  period,
  type RangeOfSteps,
  range,
  type Step,
  step,
} from './request/range.ts'
import { badRequest } from './request/refusals.ts'
import { changeFields, changeRows } from './shape/changes.ts'
import { readCandidateBonuses } from './shape/holdings.ts'
import { count, exact, listOfRows, numberedLists, shape, sourced, stepFields, text } from './shape/results.ts'
import { toAmount, toIost } from './shape/values.ts'

/** Sums of one step of a producer's and its voters' rewards. */
const rewardStep = shape({
  ...stepFields,
  contribute_made: exact(
    'Only with step: contribute earned for its blocks.',
    '仅在使用 step 时返回：出块所得的 contribute。',
  ),
  contribute_exchanged: exact(
    'Only with step: contribute that it exchanged for IOST.',
    '仅在使用 step 时返回：用于兑换 IOST 的 contribute。',
  ),
  exchanged: exact(
    'Only with step: IOST that it received for contribute.',
    '仅在使用 step 时返回：由 contribute 兑换得到的 IOST。',
  ),
  candidate_bonus: exact(
    'Only with step: what it withdrew of candidate bonuses for itself, its own half, in IOST.',
    '仅在使用 step 时返回：期间领取的候选人奖励中属于自己的一半（IOST）。',
  ),
  candidate_bonus_earned: sourced(
    'Only with step: what it earned of candidate bonuses for itself, withdrawn or not, in IOST: withdrawals, and the growth of what it could withdraw. null: not known, because the contract wrote no receipts then.',
    '仅在使用 step 时返回：期间所得的候选人奖励中属于自己的一半，无论是否已领取（IOST），即已领取的加上待领取的增量。null 表示当时合约没有收据，无法得知。',
  ),
  added_for_voters: exact(
    'Only with step: amount added for its voters, in IOST.',
    '仅在使用 step 时返回：为其投票者增加的数量（IOST）。',
  ),
  taken_by_voters: exact(
    'Only with step: what its voters withdrew, in IOST.',
    '仅在使用 step 时返回：投票者从中领取的数量（IOST）。',
  ),
})

type Sums = { exchanged: bigint; candidate: bigint; added: bigint; taken: bigint }
type StepOptions = RangeOfSteps & { readonly step: Step; readonly sort: 'asc' | 'desc' }

/** The rewards of a producer and its voters, in steps. */
async function rewardSteps<D>(
  context: Context,
  producer: string,
  { step, sort, ...asked }: StepOptions,
): Promise<Listing<D>> {
  const { view } = context
  const steps = await requestedSteps(context, { step, ...computeStepBounds(asked) })
  const heights = listStepHeights(steps)
  const [sums, contribute, bonuses, token] = await Promise.all([
    readRewardSums(view, producer, heights),
    readFlows(view, seriesOf.balance(balanceId('contribute', producer)), heights),
    readCandidateBonuses(view, producer, heights),
    view.get(tokens, 'contribute'),
  ])
  const decimal = token?.decimal ?? 0
  const rows = steps.map(({ first, isWhole }, at) => {
    const [before = NO_FLOWS, after = NO_FLOWS] = [contribute[at], contribute[at + 1]]
    const { exchanged, candidate, added, taken } = sums[at] ?? NONE
    return {
      date: formatDate(first),
      complete: isWhole,
      contribute_made: toAmount(after.gained - before.gained, decimal),
      contribute_exchanged: toAmount(after.lost - before.lost, decimal),
      exchanged: toIost(exchanged),
      candidate_bonus: toIost(candidate),
      candidate_bonus_earned: computeEarned(candidate, bonuses[at], bonuses[at + 1]),
      added_for_voters: toIost(added),
      taken_by_voters: toIost(taken),
    }
  })
  return createStepListing(rows, sort, Object.keys(rewardStep.properties))
}

/** The growth of what can be withdrawn, with what was withdrawn; null: one of them is not known. */
const computeEarned = (withdrawn: bigint, before: bigint | null | undefined, after: bigint | null | undefined) =>
  before === null || after === null ? null : toIost(withdrawn + (after ?? 0n) - (before ?? 0n))

const NONE: Sums = { exchanged: 0n, candidate: 0n, added: 0n, taken: 0n }

/** Sums of a producer's rewards from each height (exclusive) to the next (inclusive). */
async function readRewardSums(view: View, producer: string, heights: readonly number[]): Promise<readonly Sums[]> {
  const sums = heights.slice(1).map(() => ({ ...NONE }))
  const [start = -1, end = -1] = [heights[0], heights.at(-1)]
  const series = await findSeries(view, seriesOf.rewards(producer))
  const [from, to] = (await series?.lastParts([createHeightTest(start), createHeightTest(end)])) ?? []
  if (series === undefined || to === undefined) return sums
  const stepOf = (height: number): Sums | undefined =>
    height <= start ? undefined : sums[heights.findIndex((last, at) => at > 0 && height <= last) - 1]
  for await (const parts of readPartRuns(series, [from?.part ?? 0, to.part]))
    for (const entry of parts.flatMap(part => parseEntries(part.entries, part.height)))
      addReward(stepOf(entry.height), entry)
  return sums
}

function addReward(sums: Sums | undefined, { change, more: [kind, other = '0'] }: Entry): void {
  if (sums === undefined) return
  switch (kind) {
    case 'exchange':
      sums.exchanged += change
      return
    case 'candidate':
      sums.candidate += change
      sums.added += BigInt(other)
      return
    case 'topup':
      sums.added += change
      return
    case 'voters':
      sums.taken += change
  }
}

const rewardFields = {
  ...changeFields,
  action_name: text(
    'exchangeIOST: the producer exchanged contribute for IOST. candidateWithdraw: it withdrew its half of a candidate bonus, and its voters were given the other half. topupVoterBonus: somebody added an amount for its voters. voterWithdraw: a voter withdrew what came from this producer.',
    'exchangeIOST：生产者将 contribute 兑换为 IOST。candidateWithdraw：生产者领取候选人奖励中属于自己的一半，另一半归其投票者。topupVoterBonus：有人为其投票者追加奖励。voterWithdraw：某投票者领取来自该生产者的奖励。',
  ),
  producer_amount: exact('Amount paid to the producer itself, in IOST.', '生产者本身得到的数量（IOST）。'),
  added_for_voters: exact('Amount added for its voters, in IOST.', '为其投票者增加的数量（IOST）。'),
  taken_by_voters: exact('Amount withdrawn by a voter, in IOST.', '投票者从中领取的数量（IOST）。'),
}

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
  ...numberedLists('rewards', rewardFields, {
    en: 'Changes of this page.',
    zh: '变动列表。',
    rowFrom: row => Type.Union([row, rewardStep]),
  }),
  list: 'rewards',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { producer: account, ...requested }) => {
      const { view, compat } = context
      await requireNamed(context, 'producer', account)
      if (requested.step !== undefined)
        return rewardSteps<Numbered<SeriesChange>>(context, account, { ...requested, step: requested.step })
      const all = await openChangeList(view, seriesOf.rewards(account))
      return {
        ...(await numberedRows(context, all, requested)),
        rows: changeRows({ fold: NOTHING, compat }, formatReward),
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000', page: '1', size: '5' },
})

/** Rows have no running total. */
const NOTHING = { from: () => null, after: () => null }

const formatReward = ({ change, more: [kind = '', other = '0'] }: Entry) => ({
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

const row = shape({
  account: text('Account or contract of the voter.', '投票者（账户或合约）。'),
  start_votes: exact('Votes after the first block, in IOST.', '起始区块之后的票数（IOST）。'),
  end_votes: exact('Votes after the last block, in IOST.', '结束区块之后的票数（IOST）。'),
  mean_votes: exact(
    'Mean of the votes over time: vote_seconds divided by the seconds of the period, in IOST, cut to 18 decimals.',
    '票数的时间平均值：vote_seconds 除以期间秒数（IOST），截断到 18 位小数。',
  ),
  vote_seconds: exact(
    'Votes in IOST multiplied by the seconds for which they were cast, exactly.',
    '票数（IOST）与其持续秒数之积，为精确值。',
  ),
  share: exact(
    'Share of the vote_seconds of all voters, from 0 to 1, cut to 18 decimals.',
    '占全部投票者 vote_seconds 的份额，0 至 1，截断到 18 位小数。',
  ),
})

const { properties } = listOfRows('shares', row, { en: 'Voters.', zh: '投票者列表。' })

/** The period, in fields beside the rows. */
const periodFields = {
  start_block: count('First block: its time is the beginning.', '起始区块，其时间为期初。'),
  start_time: text('Time of that block, cut to milliseconds.', '该区块的时间，截断到毫秒。'),
  end_block: count('Last block: its time is the end.', '结束区块，其时间为期末。'),
  end_time: text('Time of that block, cut to milliseconds.', '该区块的时间，截断到毫秒。'),
  seconds: exact('Seconds between the two.', '两者之间的秒数。'),
  vote_seconds: exact('Sum of vote_seconds of all voters.', '全部投票者 vote_seconds 之和。'),
}

/** Decimals of votes × nanoseconds: 10^-8 IOST and 10^-9 s. */
const WEIGHT_DECIMALS = 17
const CUT = 18
const SECONDS = 9

export const getRewardShares = defineList({
  module: 'producer',
  action: 'get-reward-shares',
  title: { en: 'Shares of voters in rewards', zh: '投票者奖励份额' },
  summary: {
    en: 'For each voter of a producer in a period: the votes at its beginning and at its end, their mean over time, and the share that follows from it, by which a payout can be made; the largest share first, then by name. The period goes from the time of one block to that of another; a vote counts from the time of its block on. Periods meet without gap or overlap where one ends with the block or the time with which the next begins. Everybody who had votes in it is listed. Without page and size, the complete list is returned. Shares are cut, so their sum may be a little below 1; vote_seconds are exact.',
    zh: '某期间内生产者的每个投票者：期初与期末票数、票数的时间平均值及其份额，可据此分发奖励；按份额从大到小排列，相同时按名称排列。期间从一个区块的时间到另一个区块的时间；票数自其所在区块的时间起计算。一个期间结束的区块或时间即为下一个期间开始的区块或时间时，两者既无间隙也不重叠。期间内曾有票数的投票者全部列出。不提供 page 和 size 时返回完整列表。份额经过截断，总和可能略小于 1；vote_seconds 为精确值。',
  },
  params: Type.Object({ producer: producer(), ...period, ...pagingIfAsked }),
  check: checkPeriod,
  result: shape({ ...properties, ...periodFields }),
  // The old service returns an empty list for names that do not exist.
  compatResult: shape({ ...properties, ...Type.Partial(shape(periodFields)).properties }),
  list: 'shares',
  source: {
    state: [producers, series, votes],
    open: async (context, { producer: account, ...asked }) => {
      await requireNamed(context, 'producer', account)
      const [start, end] = await requirePeriod(context, asked)
      const shares = await readVoteShares(context, account, [start, end])
      const all = shares.reduce((sum, { weight }) => sum + weight, 0n)
      const length = end.time - start.time
      return {
        ...createMemoryListing(shares, ({ voter, first, last, weight }) => {
          return {
            account: voter,
            start_votes: toIost(first),
            end_votes: toIost(last),
            mean_votes: new Exact(formatUnits((weight * 10n ** 10n) / length, CUT)),
            vote_seconds: new Exact(formatUnits(weight, WEIGHT_DECIMALS)),
            share: new Exact(formatUnits(all === 0n ? 0n : (weight * 10n ** BigInt(CUT)) / all, CUT)),
          }
        }),
        heights: [start.height, end.height],
        beside: {
          start_block: start.height,
          start_time: toIso(start.time),
          end_block: end.height,
          end_time: toIso(end.time),
          seconds: new Exact(formatUnits(length, SECONDS)),
          vote_seconds: new Exact(formatUnits(all, WEIGHT_DECIMALS)),
        },
      }
    },
  },
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000' },
})

/** The two blocks of a period. Throws like `findMoment`, and 'bad_request' if the first is not before the last. */
async function requirePeriod(context: Context, asked: BlockPeriod): Promise<readonly [StateMoment, StateMoment]> {
  const { start_block, start_time, end_block, end_time } = asked
  const [start, last] = await Promise.all([
    findMoment(context, { at_block: start_block, at_time: start_time }, 'start'),
    findMoment(context, { at_block: end_block, at_time: end_time }, 'end'),
  ])
  const first = start ?? (await findMoment(context, { at_block: 0n }))
  const end = last ?? context.view.at
  if (first === undefined || first.time >= end.time)
    throw badRequest(
      {
        en: `The period begins with block ${first?.height} and ends with block ${end.height}; it must end with a later one.`,
        zh: `期间从区块 ${first?.height} 开始，到区块 ${end.height} 结束；结束区块必须晚于起始区块。`,
      },
      { parameter: start_time === undefined ? 'start_block' : 'start_time' },
    )
  return [first, end]
}
