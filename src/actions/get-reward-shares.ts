import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { Exact } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { producers } from '#indices/producer.ts'
import { series } from '#indices/series.ts'
import { votes } from '#indices/vote.ts'
import type { Context } from './define.ts'
import { createMemoryListing } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { readVoteShares } from './find/past-ranking.ts'
import { findMoment, type StateMoment } from './find/point.ts'
import { defineList } from './list/paging.ts'
import { pageIfAsked, producer, sizeIfAsked } from './request/parameter-types.ts'
import { type BlockPeriod, checkPeriod, period } from './request/range.ts'
import { badRequest } from './request/refusals.ts'
import { count, exact, listOfRows, shape, text } from './shape/results.ts'
import { toIost } from './shape/values.ts'

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

/** The share of each voter in a payout. */
export const getRewardShares = defineList({
  module: 'producer',
  action: 'get-reward-shares',
  title: { en: 'Shares of voters in rewards', zh: '投票者奖励份额' },
  summary: {
    en: 'For each voter of a producer in a period: the votes at its beginning and at its end, their mean over time, and the share that follows from it, by which a payout can be made; the largest share first, then by name. The period goes from the time of one block to that of another; a vote counts from the time of its block on. Periods meet without gap or overlap where one ends with the block or the time with which the next begins. Everybody who had votes in it is listed. Without page and size, the complete list is returned. Shares are cut, so their sum may be a little below 1; vote_seconds are exact.',
    zh: '某期间内生产者的每个投票者：期初与期末票数、票数的时间平均值及其份额，可据此分发奖励；按份额从大到小排列，相同时按名称排列。期间从一个区块的时间到另一个区块的时间；票数自其所在区块的时间起计算。一个期间结束的区块或时间即为下一个期间开始的区块或时间时，两者既无间隙也不重叠。期间内曾有票数的投票者全部列出。不提供 page 和 size 时返回完整列表。份额经过截断，总和可能略小于 1；vote_seconds 为精确值。',
  },
  params: Type.Object({ producer: producer(), ...period, page: pageIfAsked(), size: sizeIfAsked() }),
  check: checkPeriod,
  result: shape({ ...properties, ...periodFields }),
  // The old service returns an empty list for names that do not exist.
  compatResult: shape({ ...properties, ...Type.Partial(shape(periodFields)).properties }),
  list: 'shares',
  source: {
    state: [producers, series, votes],
    open: async (context, { producer: account, ...asked }) => {
      const { view } = context
      if ((await view.get(producers, account)) === undefined) throw unknown(context, 'producer', account)
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
            mean_votes: new Exact(fromUnits((weight * 10n ** 10n) / length, CUT)),
            vote_seconds: new Exact(fromUnits(weight, WEIGHT_DECIMALS)),
            share: new Exact(fromUnits(all === 0n ? 0n : (weight * 10n ** BigInt(CUT)) / all, CUT)),
          }
        }),
        heights: [start.height, end.height],
        beside: {
          start_block: start.height,
          start_time: toIso(start.time),
          end_block: end.height,
          end_time: toIso(end.time),
          seconds: new Exact(fromUnits(length, SECONDS)),
          vote_seconds: new Exact(fromUnits(all, WEIGHT_DECIMALS)),
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
