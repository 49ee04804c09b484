import type { Typed } from '#actions/define.ts'
import type { Rows } from '#actions/list/rows.ts'
import { dateOf, dayOf } from '#chain/time.ts'
import type { Published } from '#store/port.ts'
import { type Field, fieldsGiven, namesOf, RANGE_FIELDS, textIn } from '../part/form-fields.ts'
import type { Download, FileRequest } from './download.ts'
import { type FileColumn, tableOf } from './table.ts'

/** The properties in which lists differ. */
type ListFile<Row> = {
  readonly path: string
  readonly action: Typed
  /** The parameter of the call that gets the path's open segment; absent: the path has none. */
  readonly of?: 'account' | 'contract' | 'token' | 'collection' | 'producer'
  /** A word for the rows, where `of` does not describe them. */
  readonly what?: string
  /** Whether the list has a range of time. A list of state shows the state at the height. */
  readonly isOfTime: boolean
  /** The fields that narrow the list and its page; absent: the page shows the whole list. */
  readonly fields?: readonly Field[]
  readonly columns: (request: FileRequest) => readonly FileColumn<Row>[]
  /** Absent: rows are parsed as in an answer. */
  readonly read?: (rows: Rows) => readonly Row[]
}

export const listFile = <Row>(list: ListFile<Row>): Download => {
  const { path, action, of, what, isOfTime, columns, read } = list
  const { fields = isOfTime ? RANGE_FIELDS : [] } = list
  return {
    ...{ path, action, isOfTime },
    narrowedBy: namesOf(list.fields ?? []),
    fields,
    table: request =>
      tableOf({ columns: columns(request), lang: request.lang, ...(read === undefined ? {} : { read }) }),
    paramsOf: request => ({
      ...(of === undefined ? {} : { [of]: request.id }),
      ...fieldsGiven(request, fields),
    }),
    names: (request, at) => [
      ...(of === undefined ? [] : [of, request.id]),
      ...(what === undefined ? [] : [what]),
      ...namesOf(fields).flatMap(name => {
        const value = textIn(request, name)
        if (value === '' || OF_RANGE.has(name)) return []
        return name === 'failed' ? ['failed'] : [...(WORDS.get(name) ?? [name]), value]
      }),
      ...(isOfTime ? periodOf(request, at) : ['block', String(at.height)]),
    ],
  }
}

/** Fields whose values are in the words for the period. */
const OF_RANGE: ReadonlySet<string> = new Set(namesOf(RANGE_FIELDS))

/** The words before a filter's value in the file's name, where they are not the filter's name. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['direction', []],
  ['counterparty', ['with']],
  ['func_name', ['action']],
  ['action_name', ['action']],
])

/** The period of a file, in days or blocks, as words of its name. */
const periodOf = (request: FileRequest, at: Published): readonly string[] => {
  const given = (name: string): string => textIn(request, name)
  const blocks = given('start_block') + given('end_block')
  return [
    ...(given('from') === '' ? [] : ['from', given('from')]),
    ...['to', given('to') === '' ? dateOf(dayOf(at.time)) : given('to')],
    ...(blocks === '' ? [] : ['blocks', given('start_block') || '0', given('end_block') || String(at.height)]),
  ]
}
