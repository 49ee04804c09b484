import { Failure } from '#failure/failure.ts'
import type { Cell } from './cell.ts'
import type { SqliteConnection } from './connection.ts'

/** An id of a key begins with ten hexadecimal digits. */
const DIGITS = 10
const END = 16 ** DIGITS
const FEW = 100

/** The rows of keys that can be read, and whether these are all. */
export type Salvaged = { readonly rows: readonly (readonly Cell[])[]; readonly isWhole: boolean }

/**
 * Reads the table of keys of a damaged file. The table is a tree by id: where a page of it cannot be read, the ids on it
 * are passed over, and reading goes on at the first id behind them that can be found.
 */
export function salvageRows(connection: SqliteConnection, columns: string): Salvaged {
  const table = `SELECT ${columns} FROM "keys"`
  /** Rows from an id on; undefined: damaged. */
  const readFrom = (id: string, operator: '>' | '>=', limit: number): readonly Cell[][] | undefined =>
    unlessDamaged(() => connection.rows(`${table} WHERE "id" ${operator} ? ORDER BY "id" LIMIT ${limit}`, id))
  /**
   * The first rows behind a damaged page; undefined: there are none. The row between two leaves is in a page above them,
   * and a search from below leads to the damaged leaf, so that row is found from the other side.
   */
  const readBehind = (at: string): readonly Cell[][] | undefined => {
    const from = Number.parseInt(at.slice(0, DIGITS) || '0', 16)
    const begin = findReadable(from, number => readFrom(formatKeyId(number), '>=', 1))
    const [first] = begin === undefined ? [] : (readFrom(formatKeyId(begin), '>=', 1) ?? [])
    if (first === undefined) return undefined
    const last = `${table} WHERE "id" < ? ORDER BY "id" DESC LIMIT 1`
    const between = unlessDamaged(() => connection.rows(last, String(first[0]))) ?? []
    return [...between.filter(([id]) => String(id) > at), first]
  }
  const rows: (readonly Cell[])[] = []
  let isWhole = true
  for (let at = ''; ; at = String(rows.at(-1)?.[0] ?? '')) {
    const next = readFrom(at, '>', FEW) ?? readFrom(at, '>', 1)
    isWhole &&= next !== undefined
    const found = next ?? readBehind(at)
    if (found === undefined || found.length === 0) return { rows, isWhole }
    rows.push(...found)
  }
}

/** The lowest number above `from` at which reading is possible again; undefined: nowhere. */
function findReadable(from: number, read: (number: number) => unknown): number | undefined {
  let step = 1
  while (from + step < END && read(from + step) === undefined) step *= 2
  let [bad, good] = [from + Math.floor(step / 2), Math.min(from + step, END)]
  if (good === END && read(END - 1) === undefined) return undefined
  while (good - bad > 1) {
    const middle = Math.floor((bad + good) / 2)
    if (read(middle) === undefined) bad = middle
    else good = middle
  }
  return good
}

const formatKeyId = (number: number): string => number.toString(16).padStart(DIGITS, '0')

function unlessDamaged<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Failure && error.kind === 'damaged') return undefined
    throw error
  }
}
