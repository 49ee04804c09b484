import { lists } from '#indices/list.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { Context } from '../define.ts'
import { recordsAbove, withAbove } from './above.ts'
import { numberedRows, type RangeInOrder } from './numbered.ts'
import type { Numbered, NumberedList } from './numbered-list.ts'

export type NumberedRecord = Numbered<ListedRecord>

/**
 * The rows of a list within a range, as `numberedRows` says, with those of the blocks above where they are asked for; a
 * list that does not exist has none.
 */
export const recordsOf = async (
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  list: string,
  asked: RangeInOrder,
): ReturnType<typeof numberedRows<ListedRecord>> => {
  const found = await context.view.get(lists, list)
  const followed = { kind: 'records', key: list, number: found?.number } as const
  const common = { followed, idOf: ({ id }: ListedRecord) => id }
  const rows: NumberedList<ListedRecord> =
    found === undefined
      ? { ...common, count: 0, moments: async () => [], docs: async () => [] }
      : {
          ...common,
          count: found.count,
          moments: (view, ordinals) => view.moments(found, ordinals),
          docs: (view, first, last) => view.records(found, first, last),
        }
  return numberedRows(context, withAbove(rows, context.head, recordsAbove(list)), asked)
}
