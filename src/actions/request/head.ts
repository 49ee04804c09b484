import type { TUnsafe } from '@sinclair/typebox'
import { flag } from './parameters.ts'

/** Whether a list also has the rows of blocks that are not irreversible yet. */
export const headOption = (): TUnsafe<number> =>
  flag({
    description: {
      en: 'With 1, the rows of the blocks above the last irreversible one are included: they are the newest. Every row then has a status; those with PACKED have no seq, because their block may still be replaced. X-Head-Height is the height up to which rows are included, X-Head-Status says whether these blocks are known. With format=sse these rows come as events of their own. Not with format=ndjson or csv.',
      zh: '为 1 时还包括不可逆区块之上各区块的记录，它们是最新的。此时每行都有 status；状态为 PACKED 的行没有 seq，因为其区块仍可能被替换。X-Head-Height 为所含记录的最高区块高度，X-Head-Status 说明这些区块是否可知。format=sse 时这些记录以单独的事件推送。不能与 format=ndjson 或 csv 同时使用。',
    },
    elsewhere: ['pending', 'unconfirmed', 'include_pending', 'with_head', 'latest', 'confirmed'],
  })
