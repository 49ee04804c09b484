import { type TUnsafe, Type } from '@sinclair/typebox'
import { ROW_ID_PATTERN, type RowId, readRowId } from '../list/row-id.ts'
import { flag, word } from './parameters.ts'
import { checkRange, type Range } from './range.ts'
import { badRequest } from './refusals.ts'

/** Whether a list also has the rows of blocks that are not irreversible yet. */
const headOption = (): TUnsafe<number> =>
  flag({
    description: {
      en: 'With 1, the rows of the blocks above the last irreversible one are included: they are the newest. Every row then has an id and a status; those with PACKED have no seq, because their block may still be replaced. X-Head-Height is the height up to which rows are included, X-Head-Status says whether these blocks are known. With format=sse these rows come as events of their own. Not with format=ndjson or csv.',
      zh: '为 1 时还包括不可逆区块之上各区块的记录，它们是最新的。此时每行都有 id 和 status；状态为 PACKED 的行没有 seq，因为其区块仍可能被替换。X-Head-Height 为所含记录的最高区块高度，X-Head-Status 说明这些区块是否可知。format=sse 时这些记录以单独的事件推送。不能与 format=ndjson 或 csv 同时使用。',
    },
    elsewhere: ['pending', 'unconfirmed', 'include_pending', 'with_head', 'latest', 'confirmed'],
  })

/** The row behind which a page begins. */
const afterOption = (): TUnsafe<RowId> =>
  word<RowId>({
    type: 'string',
    description: {
      en: 'Only with head=1: the id of the last row received. The page begins with the row behind it in the order of sort, whatever blocks came since, and total counts from there on. 409 when the block of that row was replaced: rows that were received are gone then.',
      zh: '仅用于 head=1：已收到的最后一行的 id。本页从按 sort 顺序排在它之后的一行开始，不受其间新增区块的影响，total 也从该处起计。若该行所在区块已被取代则返回 409：此时已收到的部分记录已失效。',
    },
    rule: {
      en: 'the id of a row as head=1 returns it',
      zh: 'head=1 时返回的记录 id',
    },
    pattern: ROW_ID_PATTERN,
    example: '000000004851-00001-00000-8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg',
    read: readRowId,
  })

/** The parameters of lists that also have rows of blocks that are not irreversible yet. */
export const headOptions = { head: headOption(), after: Type.Optional(afterOption()) }

/** Throws 'bad_request' as `checkRange` does, and for `after` without `head`: other lists are read on by `seq`. */
export const checkHeadRange = (params: Range & { readonly head: number; readonly after?: RowId }): void => {
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
