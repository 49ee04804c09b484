import { type Answer, refused } from './answer.ts'
import { readBody } from './go-values.ts'

/** Headers per call of getBlockHeaderByRange, and the maximum range of getBlockTxsByContract (go-iost rpc). */
const HEAD_LIMIT = 110n
const TRANSACTION_RANGE = 100n

const invalid = (from: bigint, to: bigint): Answer => refused(2, `invalid range ${from} to ${to}`)

/** The body of getBlockHeaderByRange: heights from `start` up to, but not including, `end`. */
export function readHeadRange(body: string): { readonly start: bigint; readonly end: bigint } | Answer {
  const range = readBody(body, { integers: ['start', 'end'], texts: [] })
  if ('status' in range) return range
  const { start, end } = range
  return end <= start || end > start + HEAD_LIMIT ? invalid(start, end) : range
}

/** The body of getBlockTxsByContract: both heights are included. */
export function readTransactionRange(body: string):
  | {
      readonly from_block: bigint
      readonly to_block: bigint
      readonly contract: string
      readonly action_name: string
    }
  | Answer {
  const asked = readBody(body, { integers: ['from_block', 'to_block'], texts: ['contract', 'action_name'] })
  if ('status' in asked) return asked
  const { from_block: from, to_block: to } = asked
  return to <= from || to > from + TRANSACTION_RANGE ? invalid(from, to) : asked
}
