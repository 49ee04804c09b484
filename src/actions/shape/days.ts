import { flag, text } from './results.ts'

/** The first two fields of each day's row. */
export const utcDay = text('UTC day, by block time.', 'UTC 日期，按区块时间计。')
export const isDayOver = flag(
  'Whether the day is over: false for the day of the last published block, whose figures are preliminary.',
  '该日是否已结束：最新已发布区块所在的日期为 false，其数值截至该区块。',
)
