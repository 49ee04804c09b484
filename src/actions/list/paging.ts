import { RawJson } from '#chain/json.ts'

/** A page number as JSON. It may have 19 digits, and stays a number when amounts are written as text. */
export const rawOf = (page: bigint): RawJson => new RawJson(String(page))

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
