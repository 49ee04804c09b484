import { Type } from '@sinclair/typebox'
import {
  DATE_PATTERN,
  exactIso,
  formatDate,
  ISO_PATTERN,
  parseDay,
  parseIso,
  startOfDay,
  toDay,
  toIso,
} from '#chain/time.ts'
import type { Text } from '../define.ts'
import { defineParameter, flag, WHOLE_NUMBER, WHOLE_RULE } from './query.ts'
import { badRequest } from './refusals.ts'
import { ROW_ID_PATTERN, type RowId, readRowId } from './row-id.ts'

export const DAYS_DEFAULT = 30

type DateTexts = { readonly description: Text; readonly foreignNames: readonly string[] }

/** A parameter for a UTC day; `read` converts days since 1970 to the parameter's value. */
const date = <T>(read: (day: number) => T, { description, foreignNames }: DateTexts) =>
  Type.Optional(
    defineParameter<T>({
      type: 'string',
      description,
      rule: { en: 'a UTC day such as 2026-11-21', zh: 'UTC 日期，例如 2026-11-21' },
      pattern: `^${DATE_PATTERN}$`,
      example: '2026-11-21',
      sample: 'day',
      foreignNames,
      read: text => {
        const day = parseDay(text)
        return day === undefined ? undefined : read(day)
      },
    }),
  )

const keepDay = (day: number): number => day

/** First and last UTC day, as days since 1970. */
export const dates = {
  start_date: date(keepDay, {
    description: { en: 'First UTC day of the range.', zh: '区间的首个 UTC 日期。' },
    foreignNames: ['start_time', 'start', 'from', 'from_date', 'startdate', 'since'],
  }),
  end_date: date(keepDay, {
    description: { en: 'Last UTC day of the range.', zh: '区间的最后一个 UTC 日期。' },
    foreignNames: ['end_time', 'end', 'to', 'to_date', 'enddate', 'until'],
  }),
}

/** First and last day of a range, as days since 1970. */
export type Dates = { readonly start_date?: number | undefined; readonly end_date?: number | undefined }

/** A check that throws 'bad_request' for a range that ends before it starts, or has more than `most` days. */
export const createDateCheck =
  (most: number) =>
  ({ start_date, end_date }: Dates): void => {
    if (start_date === undefined || end_date === undefined) return
    const [start, end] = [formatDate(start_date), formatDate(end_date)]
    const length = end_date - start_date + 1
    if (length < 1)
      throw badRequest(
        {
          en: `Parameter 'start_date' is ${start} and 'end_date' is ${end}; the start must not be after the end.`,
          zh: `参数 'start_date' 的值为 ${start}，'end_date' 的值为 ${end}；起点不能晚于终点。`,
        },
        { parameter: 'start_date' },
      )
    if (length > most)
      throw badRequest(
        {
          en: `The range from ${start} to ${end} has ${length} days; at most ${most} are allowed: split it with 'start_date' and 'end_date'.`,
          zh: `${start} 至 ${end} 共 ${length} 天；区间最多 ${most} 天，请用 'start_date' 和 'end_date' 分段查询。`,
        },
        { parameter: 'end_date' },
      )
  }

/** The parameters of a range, each end before its start. */
export const RANGE_NAMES = [
  'end_block',
  'start_block',
  'end_time',
  'start_time',
  'end_date',
  'start_date',
  'end_seq',
  'start_seq',
] as const

/**
 * A range of a list's rows, by their blocks, the times of these blocks, and their numbers in the list; both ends are
 * inclusive. Times are in nanoseconds. So are days: a start is the first nanosecond of its day, an end the last one.
 */
export type RowRange = { readonly [K in (typeof RANGE_NAMES)[number]]?: bigint }

type ParameterTexts = {
  readonly description: Text
  readonly example: string
  readonly foreignNames: readonly string[]
}

const whole = ({ description, example, foreignNames }: ParameterTexts) =>
  Type.Optional(
    defineParameter<bigint>({
      type: 'integer',
      description,
      rule: WHOLE_RULE,
      pattern: `^${WHOLE_NUMBER}$`,
      minimum: 0,
      example,
      foreignNames,
      read: BigInt,
    }),
  )

/**
 * Nanoseconds since 1970. Current times in seconds, milliseconds and microseconds have 10 to 16 digits: as
 * nanoseconds they are times in 1970, and a range would silently contain all rows, or none.
 */
const NANOSECONDS = '(?:[0-9]{1,9}|[0-9]{17,19})'

const timeParameter = (end: 'first' | 'last', { description, example, foreignNames }: ParameterTexts) =>
  Type.Optional(
    defineParameter<bigint>({
      type: 'string',
      description,
      rule: {
        en: 'a UTC time such as 2026-11-21T08:25:32Z with at most 9 fractional digits, or nanoseconds since 1970 (at most 19 digits, and not 10 to 16, which seconds to microseconds have)',
        zh: 'UTC 时间，例如 2026-11-21T08:25:32Z，秒的小数不超过 9 位；或自 1970 年起的纳秒数（不超过 19 位；10 至 16 位的秒、毫秒、微秒数不接受）',
      },
      pattern: `^(?:${ISO_PATTERN}|${NANOSECONDS})$`,
      example,
      foreignNames,
      read: text => (text.endsWith('Z') ? parseIso(text)?.[end] : BigInt(text)),
    }),
  )

/** First and last block, time and number of a list's rows. If several are given, all of them apply. */
export const range = {
  start_block: whole({
    description: { en: 'First block of the range, inclusive.', zh: '区间的起始区块（含）。' },
    example: '4000',
    foreignNames: ['startblock', 'from_block', 'fromblock', 'since_block', 'min_block'],
  }),
  end_block: whole({
    description: { en: 'Last block of the range, inclusive.', zh: '区间的结束区块（含）。' },
    example: '4851',
    foreignNames: ['endblock', 'to_block', 'toblock', 'max_block'],
  }),
  start_time: timeParameter('first', {
    description: {
      en: 'Start of the range by block time, inclusive. Block times have nanosecond precision; created_at is cut to milliseconds.',
      zh: '区间的起始时间（含），按区块时间计。区块时间精确到纳秒；created_at 截断到毫秒。',
    },
    example: '2026-11-21T08:00:00Z',
    foreignNames: ['starttime', 'from_time', 'start_timestamp', 'since'],
  }),
  end_time: timeParameter('last', {
    description: {
      en: 'End of the range by block time, inclusive. A time includes the whole of its last given unit: 23:59:59Z the whole second, 23:59:59.999Z the whole millisecond, so the created_at value of a row includes that row. A number of nanoseconds is exact.',
      zh: '区间的结束时间（含），按区块时间计。时间包含其末位单位的全部时长：23:59:59Z 包含整秒，23:59:59.999Z 包含整毫秒，因此使用某条记录的 created_at 时会包含该记录。以纳秒数给出的时间为精确值。',
    },
    example: '2026-11-21T08:25:32.500Z',
    foreignNames: ['endtime', 'to_time', 'end_timestamp', 'until', 'before'],
  }),
  start_date: date(startOfDay, {
    description: {
      en: 'First UTC day of the range by block time; the whole day is included.',
      zh: '区间的首个 UTC 日期，按区块时间计，包含当天全天。',
    },
    foreignNames: ['startdate', 'from_date', 'since_date'],
  }),
  end_date: date(day => startOfDay(day + 1) - 1n, {
    description: {
      en: 'Last UTC day of the range by block time; the whole day is included.',
      zh: '区间的最后一个 UTC 日期，按区块时间计，包含当天全天。',
    },
    foreignNames: ['enddate', 'to_date', 'until_date'],
  }),
  start_seq: whole({
    description: {
      en: 'First row of the range by its seq, inclusive. With sort=asc and the seq of the last row received plus 1, a list is followed without a gap or a duplicate.',
      zh: '区间的起始行（含），按 seq 计。使用 sort=asc 并提供已收到的最后一行的 seq 加 1，即可不遗漏、不重复地跟踪列表。',
    },
    example: '1',
    foreignNames: ['startseq', 'from_seq', 'fromseq', 'after_seq', 'since_seq', 'min_seq', 'cursor', 'seq'],
  }),
  end_seq: whole({
    description: {
      en: 'Last row of the range by its seq, inclusive.',
      zh: '区间的结束行（含），按 seq 计。',
    },
    example: '20',
    foreignNames: ['endseq', 'to_seq', 'toseq', 'before_seq', 'until_seq', 'max_seq'],
  }),
}

/** The value of a range parameter in the form used in messages. */
export function rangeText(name: (typeof RANGE_NAMES)[number], value: bigint): string {
  switch (name) {
    case 'start_date':
    case 'end_date':
      return toIso(value).slice(0, 'YYYY-MM-DD'.length)
    case 'start_time':
    case 'end_time':
      return exactIso(value)
    default:
      return String(value)
  }
}

/** Starts and ends that are compared with each other; days are compared as times. */
const PAIRS = [
  ['start_block', 'end_block'],
  ['start_time', 'end_time'],
  ['start_date', 'end_date'],
  ['start_date', 'end_time'],
  ['start_time', 'end_date'],
  ['start_seq', 'end_seq'],
] as const

/** Throws 'bad_request' when a start is after its end: an empty page would hide the mistake. */
export function checkRange(range: RowRange): void {
  for (const [first, last] of PAIRS) {
    const [start, end] = [range[first], range[last]]
    if (start === undefined || end === undefined || start <= end) continue
    const [from, until] = [rangeText(first, start), rangeText(last, end)]
    throw badRequest(
      {
        en: `Parameter '${first}' is ${from} and '${last}' is ${until}; the start must not be after the end.`,
        zh: `参数 '${first}' 的值为 ${from}，'${last}' 的值为 ${until}；起点不能晚于终点。`,
      },
      { parameter: first },
    )
  }
}

/** The parameters of lists that can include rows of blocks which are not yet irreversible. */
export const headOptions = {
  head: flag({
    description: {
      en: 'With 1, the rows of the blocks above the last irreversible one are included: they are the newest. Every row then has an id and a status; those with PACKED have no seq, because their block may still be replaced. X-Head-Height is the height up to which rows are included, X-Head-Status says whether these blocks are known. With format=sse these rows come as events of their own. Not with format=ndjson or csv.',
      zh: '为 1 时还包括不可逆区块之上各区块的记录，它们是最新的。此时每行都有 id 和 status；状态为 PACKED 的行没有 seq，因为其区块仍可能被替换。X-Head-Height 为所含记录的最高区块高度，X-Head-Status 说明这些区块是否可知。format=sse 时这些记录以单独的事件推送。不能与 format=ndjson 或 csv 同时使用。',
    },
    foreignNames: ['pending', 'unconfirmed', 'include_pending', 'with_head', 'latest', 'confirmed'],
  }),
  after: Type.Optional(
    defineParameter<RowId>({
      type: 'string',
      description: {
        en: 'Only with head=1: the id of the last row received. The page begins with the row behind it in the order of sort, whatever blocks came since, and total counts from there on. 409 when the block of that row was replaced: rows that were received are gone then.',
        zh: '仅用于 head=1：已收到的最后一行的 id。本页从按 sort 顺序排在它之后的一行开始，不受其间新增区块的影响，total 也从该处起计。若该行所在区块已被取代则返回 409：此时已收到的部分记录已失效。',
      },
      rule: { en: 'the id of a row as head=1 returns it', zh: 'head=1 时返回的记录 id' },
      pattern: ROW_ID_PATTERN,
      example: '000000004851-00001-00000-8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg',
      read: readRowId,
    }),
  ),
}

/** Throws 'bad_request' like `checkRange`, and for `after` without `head`: other lists are continued by `seq`. */
export function checkHeadRange(params: RowRange & { readonly head: number; readonly after?: RowId | undefined }): void {
  checkRange(params)
  if (params.after !== undefined && params.head !== 1)
    throw badRequest(
      {
        en: "Parameter 'after' is given without head=1; without it rows are read on by their seq: use start_seq or end_seq.",
        zh: "提供了参数 'after' 但没有 head=1；不使用 head=1 时请按 seq 继续读取：使用 start_seq 或 end_seq。",
      },
      { parameter: 'after' },
    )
}

/** The two ends of a period, each a block or the last block that is not after a time. */
export type BlockPeriod = {
  readonly start_block?: bigint | undefined
  readonly start_time?: bigint | undefined
  readonly end_block?: bigint | undefined
  readonly end_time?: bigint | undefined
}

/** Parameters of a period between two blocks. Both times are rounded in the same way, so consecutive periods meet. */
export const period = {
  start_block: whole({
    description: {
      en: 'Block with which the period begins. Without start_block and start_time it begins with the first block of the chain.',
      zh: '期间开始的区块。不提供 start_block 与 start_time 时从链上首个区块开始。',
    },
    example: '1000',
    foreignNames: ['startblock', 'from_block', 'fromblock', 'since_block', 'min_block'],
  }),
  end_block: whole({
    description: {
      en: 'Block with which the period ends. Without end_block and end_time it ends with the last published block.',
      zh: '期间结束的区块。不提供 end_block 与 end_time 时到最新已发布区块为止。',
    },
    example: '4000',
    foreignNames: ['endblock', 'to_block', 'toblock', 'max_block'],
  }),
  start_time: timeParameter('first', {
    description: {
      en: 'In place of start_block: the period begins with the last block that is not after this instant.',
      zh: '代替 start_block：期间从不晚于该时刻的最后一个区块开始。',
    },
    example: '2026-11-21T08:00:00Z',
    foreignNames: ['starttime', 'from_time', 'start_timestamp', 'since'],
  }),
  end_time: timeParameter('first', {
    description: {
      en: 'In place of end_block: the period ends with the last block that is not after this instant.',
      zh: '代替 end_block：期间到不晚于该时刻的最后一个区块结束。',
    },
    example: '2026-11-21T08:25:32Z',
    foreignNames: ['endtime', 'to_time', 'end_timestamp', 'until', 'before'],
  }),
}

/** Throws 'bad_request' if an end is given as both block and time: they may refer to different blocks. */
export function checkPeriod(requested: BlockPeriod): void {
  for (const end of ['start', 'end'] as const)
    if (requested[`${end}_block`] !== undefined && requested[`${end}_time`] !== undefined)
      throw badRequest(
        {
          en: `Parameters '${end}_block' and '${end}_time' cannot be combined; give only one of them.`,
          zh: `参数 '${end}_block' 与 '${end}_time' 不能同时使用；请只提供其中一个。`,
        },
        { parameter: `${end}_time` },
      )
}

/** The block or time whose state is requested; absent: the published height. */
export type StatePoint = { readonly at_block?: bigint | undefined; readonly at_time?: bigint | undefined }

/** Parameters of answers that are also available for the past. */
export const point = {
  at_block: whole({
    description: {
      en: 'Return the state after this block instead of the present one.',
      zh: '返回该区块之后的状态，而非当前状态。',
    },
    example: '4000',
    foreignNames: ['block', 'height', 'block_number', 'blocknumber', 'at_height', 'as_of_block', 'snapshot'],
  }),
  at_time: timeParameter('last', {
    description: {
      en: 'Return the state after the last irreversible block whose time is not after this one. A time includes the whole of its last given unit: 23:59:59Z the whole second. Not together with at_block.',
      zh: '返回区块时间不晚于该时间的最后一个不可逆区块之后的状态。时间包含其末位单位的全部时长：23:59:59Z 包含整秒。不能与 at_block 同时使用。',
    },
    example: '2026-11-21T08:25:32Z',
    foreignNames: ['time', 'date', 'at_date', 'at_timestamp', 'as_of', 'as_of_time'],
  }),
}

/** Whether a point is given. Without one, no past state is read. */
export const hasPoint = ({ at_block, at_time }: StatePoint): boolean => (at_block ?? at_time) !== undefined

/** Throws 'bad_request' when both are given: they may refer to different blocks. */
export function checkPoint({ at_block, at_time }: StatePoint): void {
  if (at_block === undefined || at_time === undefined) return
  throw badRequest(
    {
      en: "Parameters 'at_block' and 'at_time' cannot be combined; give only one of them.",
      zh: "参数 'at_block' 与 'at_time' 不能同时使用；请只提供其中一个。",
    },
    { parameter: 'at_time' },
  )
}

/** The length of a history's steps: a UTC day, a week from Monday, or a month. */
export type Step = 'day' | 'week' | 'month'

export const step = (fallback?: Step) =>
  defineParameter<Step>({
    type: 'string',
    description: {
      en: 'One row for each UTC day, week (from Monday) or month, those without a change included.',
      zh: '按 UTC 日、周（周一开始）或月各返回一行，没有变动的也包括在内。',
    },
    rule: { en: 'day, week or month', zh: 'day、week 或 month' },
    pattern: '^(?:day|week|month)$',
    values: ['day', 'week', 'month'],
    example: 'day',
    ...(fallback === undefined ? {} : { fallback }),
    foreignNames: ['interval', 'period', 'granularity', 'resolution', 'group_by', 'every'],
    read: text => (text === 'week' || text === 'month' ? text : 'day'),
  })

/** The range of a history, and the length of its steps if its rows are steps. */
export type RangeOfSteps = RowRange & { readonly step?: Step | undefined }

/**
 * Throws 'bad_request' for a step together with a range by the numbers of changes, or with columns that show single
 * changes.
 */
export function checkSteps({ step, csv, ...range }: RangeOfSteps & { readonly csv?: string | undefined }): void {
  if (step === undefined) return
  if (csv !== undefined)
    throw badRequest(
      {
        en: `Parameters 'step' and 'csv' cannot be combined: csv=${csv} has a line for each change; leave one of them out.`,
        zh: `参数 'step' 与 'csv' 不能同时使用：csv=${csv} 每笔变动一行；请去掉其中一个。`,
      },
      { parameter: 'csv' },
    )
  const other = RANGE_NAMES.find(name => name.endsWith('_seq') && range[name] !== undefined)
  if (other === undefined) return
  throw badRequest(
    {
      en: `Parameters 'step' and '${other}' cannot be combined; give the range of steps by days, blocks or times.`,
      zh: `参数 'step' 与 '${other}' 不能同时使用；使用 step 时请以日期、区块或时间指定区间。`,
    },
    { parameter: other },
  )
}

/** The blocks and times of a range, and its days in days since 1970. */
export const computeStepBounds = ({
  start_date,
  end_date,
  start_block,
  end_block,
  start_time,
  end_time,
}: RowRange) => ({
  start_date: start_date === undefined ? undefined : toDay(start_date),
  end_date: end_date === undefined ? undefined : toDay(end_date),
  ...(start_block === undefined ? {} : { start_block }),
  ...(end_block === undefined ? {} : { end_block }),
  ...(start_time === undefined ? {} : { start_time }),
  ...(end_time === undefined ? {} : { end_time }),
})
