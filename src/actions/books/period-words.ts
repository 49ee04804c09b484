import { formatDate, startOfDay, toDay, toIso } from '#chain/time.ts'
import type { Moment } from '#store/port.ts'
import type { RowRange } from '../request/range.ts'

/**
 * `from 2026-01-01 to 2026-12-31`: the period of a range as words of a file's name. The latest end is that of
 * the chain.
 */
export function periodWords(range: RowRange, at: Moment): readonly string[] {
  const { start_time, start_date, end_time, end_date } = range
  const from = [
    ...[start_time, start_date].flatMap(time => (time === undefined ? [] : startWord(time))),
    ...numberWords('block', range.start_block),
    ...numberWords('seq', range.start_seq),
  ]
  const until = [
    ...[end_time, end_date].flatMap(time => (time === undefined ? [] : endWord(time, at))),
    ...numberWords('block', range.end_block),
    ...numberWords('seq', range.end_seq),
  ]
  const last = until.length === 0 ? [formatDate(toDay(at.time))] : until
  return [...(from.length === 0 ? [] : ['from', ...from]), 'to', ...last]
}

const numberWords = (word: string, value: bigint | undefined): readonly string[] =>
  value === undefined ? [] : [word, String(value)]

const isDay = (time: bigint): boolean => time === startOfDay(toDay(time))

const startWord = (time: bigint): string => (isDay(time) ? formatDate(toDay(time)) : formatSecond(time))

/** A file named after a future day would appear to contain it. */
const endWord = (time: bigint, at: Moment): string =>
  time > at.time || isDay(time + 1n) ? formatDate(toDay(time > at.time ? at.time : time)) : formatSecond(time)

/** `2026-11-21T082532Z`, because no system accepts colons in file names. */
const formatSecond = (time: bigint): string =>
  `${toIso(time).slice(0, 'YYYY-MM-DDThh:mm:ss'.length).replaceAll(':', '')}Z`
