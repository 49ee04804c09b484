import type { Typed } from '#actions/define.ts'
import type { Rows } from '#actions/list/rows.ts'
import { dateOf, dayOf } from '#chain/time.ts'
import type { Published } from '#store/port.ts'
import { filtersGiven, RANGE } from '../part/filters.tsx'
import type { AskedFile, Download } from './download.ts'
import { type FileColumn, tableOf } from './table.ts'

/** The parts in which lists differ. */
type ListFile<Row> = {
  readonly path: string
  readonly action: Typed
  /** The parameter of the call that the open part of the path gives; absent: the path has no open part. */
  readonly of?: 'account' | 'contract' | 'token' | 'collection' | 'producer'
  /** A word for the rows, where `of` does not say it. */
  readonly what?: string
  /** Whether the list has a range of time; a list of state is as it is at the height. */
  readonly isOfTime: boolean
  /** Filters that the list and its page have beside the range; absent: the page shows the whole list. */
  readonly filters?: readonly string[]
  readonly columns: (asked: AskedFile) => readonly FileColumn<Row>[]
  /** Absent: rows are as an answer has them. */
  readonly read?: (rows: Rows) => readonly Row[]
}

export const listFile = <Row>(list: ListFile<Row>): Download => {
  const { path, action, of, what, isOfTime, filters = [], columns, read } = list
  return {
    ...{ path, action, isOfTime },
    narrowedBy: list.filters === undefined ? [] : [...filters, ...RANGE],
    table: asked =>
      tableOf({ columns: columns(asked), lang: asked.lang, ...(read === undefined ? {} : { read }) }),
    given: asked => ({
      ...(of === undefined ? {} : { [of]: asked.id }),
      ...(isOfTime ? filtersGiven(asked, filters) : {}),
    }),
    names: (asked, at) => [
      ...(of === undefined ? [] : [of, asked.id]),
      ...(what === undefined ? [] : [what]),
      ...filters.flatMap(name => {
        const value = asked.query.get(name) ?? ''
        if (value === '') return []
        return name === 'failed' ? ['failed'] : [...(WORDS.get(name) ?? [name]), value]
      }),
      ...(isOfTime ? periodOf(asked, at) : ['block', String(at.height)]),
    ],
  }
}

/** What stands before the value of a filter in the name of a file, where it is not the filter's own name. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['direction', []],
  ['counterparty', ['with']],
  ['func_name', ['action']],
  ['action_name', ['action']],
])

/** Which days or blocks a file is of. */
const periodOf = ({ query }: AskedFile, at: Published): readonly string[] => {
  const given = (name: string): string => query.get(name) ?? ''
  const blocks = given('start_block') + given('end_block')
  return [
    ...(given('from') === '' ? [] : ['from', given('from')]),
    ...['to', given('to') === '' ? dateOf(dayOf(at.time)) : given('to')],
    ...(blocks === ''
      ? []
      : ['blocks', given('start_block') || '0', given('end_block') || String(at.height)]),
  ]
}
