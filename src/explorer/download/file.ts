import type { Ask, CallParameters } from '#actions/ask.ts'
import type { Text, Typed } from '#actions/define.ts'
import { jsonRows, type Rows } from '#actions/find/listing.ts'
import { Exact, parseExact } from '#chain/json.ts'
import { formatDate, toDay } from '#chain/time.ts'
import type { Published } from '#store/port.ts'
import { type FormField, getQueryText, listFieldNames, RANGE_FIELDS, readGivenFields } from '../format/field.ts'
import { revealInvisible } from '../format/text.ts'
import type { Lang } from '../page.ts'

/** Characters with which a formula can begin in a spreadsheet, including full-width forms. */
const SIGNS = '=+\\-@\uff1d\uff0b\uff0d\uff20'
const RUNS = new RegExp(`^[${SIGNS}\\t\\r\\n]`)
/** Where a cell begins for a program that divides the file at another sign: Excel at `;` in most of Europe. */
const RUNS_INSIDE = new RegExp(`([;\\t\\n]["\\s]{0,64})(?=[${SIGNS}])`, 'g')

/**
 * A text of the chain as a spreadsheet cell that is shown and never evaluated. A text that would be a formula
 * gets a leading apostrophe, also where it would be one after a `;`, a tab or a line end. Invisible characters are
 * escaped, as on pages.
 */
export function textCell(text: string): string {
  const shown = revealInvisible(text).replaceAll(RUNS_INSIDE, "$1'")
  return RUNS.test(text) ? `'${shown}` : shown
}

/** The request for a file: the open segment of its path, its parameters, and its language. */
export type FileRequest = { readonly id: string; readonly query: URLSearchParams; readonly lang: Lang }

/** The content of a file: column names, and the cells of each row. Cells are texts, or numbers as `Exact`. */
type FileTable = {
  readonly heads: readonly string[]
  /** `before`: the number of the file's earlier rows. */
  readonly cellsOf: (rows: Rows, before: number) => readonly (readonly (string | Exact)[])[]
}

/** A list of a page as a file for people, made from a list of the API. */
export type Download = {
  /** The path; `{id}` is a placeholder for one segment. */
  readonly path: string
  readonly action: Typed
  /** Whether the list has a range of time, so that a shorter period makes the file shorter. */
  readonly isOfTime: boolean
  /** Parameters of the page that narrow its list. The file is narrowed in the same way. */
  readonly narrowedBy: readonly string[]
  /** Fields that its address may have. */
  readonly fields: readonly FormField[]
  /** The canonical name of the file's subject, if addresses may use several names; absent: there is only one. */
  readonly exactName?: (ask: Ask, id: string) => Promise<string>
  readonly paramsOf: (request: FileRequest) => CallParameters
  readonly table: (request: FileRequest) => FileTable
  /** The words at the beginning of the file's name, joined by `-`. */
  readonly names: (request: FileRequest, at: Published) => readonly string[]
}

/** Maximum rows of a file. A longer list needs a key of the API, and a plan. */
export const MAX_ROWS = 10_000

/** The name of a file without its extension, in characters that every file system accepts. */
export const fileStem = (names: readonly string[]): string =>
  names
    .map(name => name.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, LONGEST_NAME))
    .filter(name => name !== '')
    .join('-')

/** Maximum length of a word in a file's name: some contract names are longer. */
const LONGEST_NAME = 60

/**
 * A column of a file: its head, and the cell of a row. `place` is the row's position in the whole list, from
 * 1.
 */
export type FileColumn<Row> = {
  readonly head: Text
  readonly cell: (row: Row, place: number) => string | Exact
}

export const column = <Row>(en: string, zh: string, cell: FileColumn<Row>['cell']): FileColumn<Row> => ({
  head: { en, zh },
  cell,
})

/** A number cell with all digits. */
export const numberCell = (number: string | number): Exact => new Exact(String(number))

/** `2026-11-21 08:25:32.500`, which spreadsheets recognize as a time. */
export const timeCell = (iso: string): string => iso.replace('T', ' ').replace(/Z$/, '')

/** The rank column of a sorted list. */
export const rank: FileColumn<unknown> = column('Rank', '排名', (_row, place) => numberCell(place))

/** Rows in the form of `numbers=string`, which matches the types of answers. */
const toAnsweredRows = <Row>(rows: Rows): readonly Row[] =>
  jsonRows(rows, { numbers: 'string' }).map(text => parseExact(text) as Row)

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
  readonly fields?: readonly FormField[]
  readonly columns: (request: FileRequest) => readonly FileColumn<Row>[]
  /** Absent: rows are parsed as in an answer. */
  readonly read?: (rows: Rows) => readonly Row[]
}

export function createListFile<Row>(list: ListFile<Row>): Download {
  const { path, action, of, what, isOfTime, columns, read = toAnsweredRows } = list
  const { fields = isOfTime ? RANGE_FIELDS : [] } = list
  return {
    path,
    action,
    isOfTime,
    narrowedBy: listFieldNames(list.fields ?? []),
    fields,
    table: request => {
      const shown = columns(request)
      return {
        heads: shown.map(({ head }) => head[request.lang]),
        cellsOf: (rows, before) => read(rows).map((row, at) => shown.map(({ cell }) => cell(row, before + at + 1))),
      }
    },
    paramsOf: request => ({
      ...(of === undefined ? {} : { [of]: request.id }),
      ...readGivenFields(request, fields),
    }),
    names: (request, at) => [
      ...(of === undefined ? [] : [of, request.id]),
      ...(what === undefined ? [] : [what]),
      ...listFieldNames(fields).flatMap(name => {
        const value = getQueryText(request, name)
        if (value === '' || OF_RANGE.has(name)) return []
        return name === 'failed' ? ['failed'] : [...(WORDS.get(name) ?? [name]), value]
      }),
      ...(isOfTime ? listPeriodWords(request, at) : ['block', String(at.height)]),
    ],
  }
}

/** Fields whose values are in the words for the period. */
const OF_RANGE: ReadonlySet<string> = new Set(listFieldNames(RANGE_FIELDS))

/** The words before a filter's value in the file's name, where they are not the filter's name. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['direction', []],
  ['counterparty', ['with']],
  ['func_name', ['action']],
  ['action_name', ['action']],
])

/** The period of a file, in days or blocks, as words of its name. */
function listPeriodWords(request: FileRequest, at: Published): readonly string[] {
  const given = (name: string): string => getQueryText(request, name)
  const blocks = given('start_block') + given('end_block')
  return [
    ...(given('from') === '' ? [] : ['from', given('from')]),
    ...['to', given('to') === '' ? formatDate(toDay(at.time)) : given('to')],
    ...(blocks === '' ? [] : ['blocks', given('start_block') || '0', given('end_block') || String(at.height)]),
  ]
}
