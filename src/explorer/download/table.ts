import type { Rows } from '#actions/list/rows.ts'
import { jsonRows } from '#actions/list/rows.ts'
import type { Text } from '#actions/text.ts'
import { Exact, parseExact } from '#chain/json.ts'
import type { Lang } from '../page.ts'
import type { Table } from './download.ts'

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

type TableParts<Row> = {
  readonly columns: readonly FileColumn<Row>[]
  readonly lang: Lang
  /** Absent: rows are parsed as in an answer. */
  readonly read?: (rows: Rows) => readonly Row[]
}

export const tableOf = <Row>({ columns, lang, read = asAnswered }: TableParts<Row>): Table => ({
  heads: columns.map(({ head }) => head[lang]),
  cellsOf: (rows, before) => read(rows).map((row, at) => columns.map(({ cell }) => cell(row, before + at + 1))),
})

/** Rows in the form of `numbers=string`, which matches the types of answers. */
const asAnswered = <Row>(rows: Rows): readonly Row[] =>
  jsonRows(rows, { numbers: 'string' }).map(text => parseExact(text) as Row)
