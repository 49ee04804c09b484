import { Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import { count, text } from './results.ts'

/** Fields of an answer about a past state. */
export const pointFields = {
  at_block: Type.Optional(
    count(
      'The answer is the state after this block; only with at_block or at_time.',
      '所有数值均为该区块之后的状态；仅在提供 at_block 或 at_time 时返回。',
    ),
  ),
  at_time: Type.Optional(
    text('Time of that block, ISO-8601 UTC, cut to milliseconds.', '该区块的时间，ISO-8601 UTC，截断到毫秒。'),
  ),
}

/** The values of `pointFields`; an answer about the present has none. */
export const pointShown = (then: { readonly height: number; readonly time: bigint } | undefined) =>
  then === undefined ? {} : { at_block: then.height, at_time: toIso(then.time) }
