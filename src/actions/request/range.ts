import { Type } from '@sinclair/typebox'
import { fromIso, ISO_PATTERN } from '#chain/time.ts'
import type { Text } from '../define.ts'
import { word } from './parameters.ts'
import { badRequest } from './refusals.ts'

/** Which rows of a list are wanted, by their blocks and those blocks' times in nanoseconds; both ends are inclusive. */
export type Range = {
  readonly start_block?: bigint
  readonly end_block?: bigint
  readonly start_time?: bigint
  readonly end_time?: bigint
}

const DIGITS = '[0-9]{1,19}'

const block = (description: Text, example: string) =>
  Type.Optional(
    word<bigint>({
      type: 'integer',
      description,
      rule: { en: 'a whole number of at most 19 digits', zh: '不超过 19 位的非负整数' },
      pattern: `^${DIGITS}$`,
      minimum: 0,
      example,
      read: BigInt,
    }),
  )

const time = (end: 'first' | 'last', description: Text, example: string) =>
  Type.Optional(
    word<bigint>({
      type: 'string',
      description,
      rule: {
        en: 'a UTC time such as 2026-11-21T08:25:32Z with at most 9 fractional digits, or nanoseconds since 1970 with at most 19 digits',
        zh: 'UTC 时间，例如 2026-11-21T08:25:32Z，秒的小数不超过 9 位；或自 1970 年起的纳秒数，不超过 19 位',
      },
      pattern: `^(?:${ISO_PATTERN}|${DIGITS})$`,
      example,
      read: text => (text.endsWith('Z') ? fromIso(text)?.[end] : BigInt(text)),
    }),
  )

/** First and last block and time of the rows of a list. Given together, all of them hold. */
export const range = {
  start_block: block(
    {
      en: 'First block of the range, inclusive.',
      zh: '区间的起始区块（含）。',
    },
    '4000',
  ),
  end_block: block({ en: 'Last block of the range, inclusive.', zh: '区间的结束区块（含）。' }, '4851'),
  start_time: time(
    'first',
    {
      en: 'Start of the range by block time, inclusive. Block times have nanosecond precision; created_at is cut to milliseconds.',
      zh: '区间的起始时间（含），按区块时间计。区块时间精确到纳秒；created_at 截断到毫秒。',
    },
    '2026-11-21T08:00:00Z',
  ),
  end_time: time(
    'last',
    {
      en: 'End of the range by block time, inclusive. A time with at most 3 fractional digits includes the whole millisecond, so the created_at value of a row includes that row.',
      zh: '区间的结束时间（含），按区块时间计。秒的小数不超过 3 位时包含整个毫秒，因此使用某条记录的 created_at 时会包含该记录。',
    },
    '2026-11-21T08:25:32.500Z',
  ),
}

/** Throws 'bad_request' when a start is beyond its end: an empty page would hide the mistake. */
export const checkRange = ({ start_block, end_block, start_time, end_time }: Range): void => {
  refuseTurned({ what: 'block', unit: '' }, start_block, end_block)
  refuseTurned({ what: 'time', unit: ' ns' }, start_time, end_time)
}

const refuseTurned = (
  { what, unit }: { readonly what: 'block' | 'time'; readonly unit: string },
  start: bigint | undefined,
  end: bigint | undefined,
): void => {
  if (start === undefined || end === undefined || start <= end) return
  throw badRequest(
    {
      en: `Parameter 'start_${what}' is ${start}${unit} and 'end_${what}' is ${end}${unit}; the start must not be after the end.`,
      zh: `参数 'start_${what}' 的值为 ${start}${unit}，'end_${what}' 的值为 ${end}${unit}；起点不能晚于终点。`,
    },
    { parameter: `start_${what}` },
  )
}
