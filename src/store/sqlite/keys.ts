import { Failure } from '#failure/failure.ts'
import { idOf, positionOf, TX_PLACES } from '#indices/position.ts'
import type { Cell } from './cell.ts'
import { POSITION, quoted, type Table } from './tables.ts'

/** What names the rows of a table: the id of state, the position in the chain of history. */
const numberOf = ([height = 0, tx]: readonly number[]): bigint =>
  tx === undefined ? BigInt(height) : BigInt(height) * BigInt(TX_PLACES) + BigInt(tx)

type Position = Parameters<typeof idOf>

const positionIn = (table: Table, number: bigint): Position =>
  table.position.length === 1
    ? [Number(number)]
    : [Number(number / BigInt(TX_PLACES)), Number(number % BigInt(TX_PLACES))]

/** Whether the position is the row number and no field of it a column. */
const isNumbered = ({ key }: Table): boolean => key[0] === POSITION

/** The cells of `Table.head` for a document. Throws 'defect' where its id is not that of its position. */
export const headCells = (table: Table, doc: Readonly<Record<string, unknown>>): Cell[] => {
  if (table.position.length === 0) return [doc['id'] as string]
  const position = positionOf(doc['id'] as string)
  if (
    position?.length !== table.position.length ||
    position.some((part, at) => part !== doc[table.position[at] ?? ''])
  )
    throw new Failure(
      'defect',
      `${table.name}: '${doc['id']}' is not the id of the position ${table.position.map(name => doc[name])}.`,
    )
  return isNumbered(table) ? [numberOf(position)] : []
}

/** The fields that follow from the cells of `Table.head`. */
export const headFields = (table: Table, cells: readonly Cell[]): Record<string, unknown> => {
  if (table.position.length === 0) return { id: cells[0] }
  if (!isNumbered(table)) return {}
  const position = positionIn(table, cells[0] as bigint)
  const fields: Record<string, unknown> = { id: idOf(...position) }
  for (const [at, name] of table.position.entries()) fields[name] = position[at]
  return fields
}

/** The columns of the key as a list, for an order or, beside as many cells, for a comparison. */
export const keyList = ({ key }: Table): string => key.map(quoted).join(', ')

/** Condition that names one row by the cells of `keyCells`. */
export const keyCondition = ({ key }: Table): string => key.map(name => `${quoted(name)} = ?`).join(' AND ')

/** The cells of the key for an id; undefined: no row has such an id. */
export const keyCells = (table: Table, id: string): Cell[] | undefined => {
  if (table.position.length === 0) return [id]
  const position = positionOf(id)
  if (position?.length !== table.position.length) return undefined
  return isNumbered(table) ? [numberOf(position)] : position.map(BigInt)
}

/** The id of a row by the cells of its key. */
export const idOfKey = (table: Table, cells: readonly Cell[]): string =>
  table.position.length === 0
    ? String(cells[0])
    : idOf(...(isNumbered(table) ? positionIn(table, cells[0] as bigint) : (cells.map(Number) as Position)))
