import { RawJson } from '#chain/json.ts'

/** A page number as JSON. It may have 19 digits, and stays a number when amounts are written as text. */
export const rawOf = (page: bigint): RawJson => new RawJson(String(page))

/** Which part of a list an answer is: `page` from 1, at most `size` rows of `total`. */
export type Paged = {
  readonly page: bigint
  readonly size: number
  readonly total: number
  /** The id of its last row, where rows behind that one are found by it rather than by a page's number. */
  readonly lastId?: string | undefined
}

/** Which part of its list the `data` of an action is; undefined: it is no list, or one that is given whole. */
export const pagedOf = (params: Readonly<Record<string, unknown>>, data: unknown): Paged | undefined => {
  const { page = 1n } = params
  if (params['page'] === undefined && params['size'] === undefined) return undefined
  const { size, total } = data as Readonly<Record<string, unknown>>
  if (typeof page !== 'bigint' || typeof size !== 'number' || typeof total !== 'number') return undefined
  const lastId = (data as { readonly [LAST_ID]?: string })[LAST_ID]
  return { page, size, total, lastId }
}

/** The id of the last row of a page: beside `data`, since only links need it. */
export const LAST_ID = Symbol('id of the last row')

/** The id of the last one of some rows, if they have ids. */
export const lastIdOf = (rows: readonly unknown[]): string | undefined => {
  const last = rows.at(-1)
  return typeof last === 'object' && last !== null && 'id' in last && typeof last.id === 'string'
    ? last.id
    : undefined
}

/** Rows before a page; undefined: further than any list reaches. */
export const offsetFor = (page: bigint, size: number): number | undefined => {
  const offset = (page - 1n) * BigInt(size)
  return offset <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(offset) : undefined
}

/** A list that is always given whole. */
export const wholeOf = (list: string, rows: readonly unknown[]): Readonly<Record<string, unknown>> => ({
  [list]: rows,
  page: 1,
  size: rows.length,
  total: rows.length,
})
