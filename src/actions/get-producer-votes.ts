import { Type } from '@sinclair/typebox'
import { formatDate, toDay } from '#chain/time.ts'
import { producers, VOTE_DAYS } from '#indices/producer.ts'
import { defineAction } from './define.ts'
import { genesisDay } from './find/days.ts'
import { unknown } from './find/loading.ts'
import { votesByDay } from './find/producer-votes.ts'
import { buildWholeList } from './list/paging.ts'
import { producer } from './request/parameter-types.ts'
import { exact, isDayOver, listOfRows, shape, utcDay } from './shape/results.ts'
import { toIost } from './shape/values.ts'

const voteDayRow = shape({
  date: utcDay,
  complete: isDayOver,
  votes: exact('Votes at the end of the day, in IOST.', '当日结束时的票数（IOST）。'),
  change: exact(
    'Change in votes during the day, in IOST: votes at its end minus votes at its beginning; negative if votes were lost.',
    '当日结束时的票数减去当日开始时的票数（IOST）；票数减少时为负数。',
  ),
})

/** Votes of a producer by day. */
export const getProducerVotes = defineAction({
  module: 'producer',
  action: 'get-producer-votes',
  title: { en: 'Votes of a producer by day', zh: '生产者每日票数' },
  summary: {
    en: `Votes of a registered producer at the end of each of the last ${VOTE_DAYS} UTC days of chain time, and how much they changed that day, oldest first; the day of the last published block is the last one. Days before the first block are left out. The list is always complete. A producer that is no longer registered is not found.`,
    zh: `已注册生产者在链上时间最近 ${VOTE_DAYS} 个 UTC 日每日结束时的票数与当日变化，从早到晚排列，最后一日为最新已发布区块所在日期。首个区块之前的日期不列出。始终返回完整列表。已注销的生产者按不存在处理。`,
  },
  params: Type.Object({ producer: producer() }),
  result: listOfRows('days', voteDayRow, { en: 'Days.', zh: '日期列表。' }),
  list: 'days',
  run: async (context, { producer: account }) => {
    const { view } = context
    const [found, genesis] = await Promise.all([view.get(producers, account), genesisDay(view)])
    if (found?.registered !== true) throw unknown(context, 'producer', account)
    const today = toDay(view.at.time)
    const days = votesByDay(found, Math.max(genesis, today - VOTE_DAYS + 1), today)
    return buildWholeList(
      'days',
      days.map(({ day, votes, change }) => ({
        date: formatDate(day),
        complete: day < today,
        votes: toIost(votes),
        change: toIost(change),
      })),
    )
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000' },
})
