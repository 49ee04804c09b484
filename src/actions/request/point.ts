import { time, whole } from './range.ts'
import { badRequest } from './refusals.ts'

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
  at_time: time('last', {
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
