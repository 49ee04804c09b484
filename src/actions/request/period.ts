import { time, whole } from './range.ts'
import { badRequest } from './refusals.ts'

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
  start_time: time('first', {
    description: {
      en: 'In place of start_block: the period begins with the last block that is not after this instant.',
      zh: '代替 start_block：期间从不晚于该时刻的最后一个区块开始。',
    },
    example: '2026-11-21T08:00:00Z',
    foreignNames: ['starttime', 'from_time', 'start_timestamp', 'since'],
  }),
  end_time: time('first', {
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
