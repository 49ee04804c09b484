import { Type } from '@sinclair/typebox'
import { DATE_PATTERN, dayOfDate, formatDate } from '#chain/time.ts'
import type { Text } from '../text.ts'
import { defineParameter } from './parameters.ts'
import { badRequest } from './refusals.ts'

/** Number of days of a range without a start. */
export const DAYS_DEFAULT = 30

type ParameterTexts = { readonly description: Text; readonly foreignNames: readonly string[] }

/** A parameter for a UTC day; `read` converts days since 1970 to the parameter's value. */
export const date = <T>(read: (day: number) => T, { description, foreignNames }: ParameterTexts) =>
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
        const day = dayOfDate(text)
        return day === undefined ? undefined : read(day)
      },
    }),
  )

const itself = (day: number): number => day

/** First and last UTC day, as days since 1970. */
export const dates = {
  start_date: date(itself, {
    description: { en: 'First UTC day of the range.', zh: '区间的首个 UTC 日期。' },
    foreignNames: ['start_time', 'start', 'from', 'from_date', 'startdate', 'since'],
  }),
  end_date: date(itself, {
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
