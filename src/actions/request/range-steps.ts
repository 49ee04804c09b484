import { toDay } from '#chain/time.ts'
import { RANGE_NAMES, type RowRange } from './range.ts'
import { badRequest } from './refusals.ts'
import type { Step } from './step.ts'

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
export const boundsOfSteps = ({ start_date, end_date, start_block, end_block, start_time, end_time }: RowRange) => ({
  start_date: start_date === undefined ? undefined : toDay(start_date),
  end_date: end_date === undefined ? undefined : toDay(end_date),
  ...(start_block === undefined ? {} : { start_block }),
  ...(end_block === undefined ? {} : { end_block }),
  ...(start_time === undefined ? {} : { start_time }),
  ...(end_time === undefined ? {} : { end_time }),
})
