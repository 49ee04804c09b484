/**
 * The kinds of field a document is made of. One definition gives the TypeScript type, the Elasticsearch mapping
 * (`dynamic: strict`) and the SQLite column, so the three can not drift.
 *
 * | kind      | TypeScript          | Elasticsearch                    | SQLite  |
 * |-----------|---------------------|----------------------------------|---------|
 * | `keyword` | string              | keyword, searched                | TEXT    |
 * | `text`    | string              | keyword, stored only             | TEXT    |
 * | `long`    | bigint (int64)      | long, sent as text               | INTEGER |
 * | `int`     | number (< 2^53)     | long                             | INTEGER |
 * | `bool`    | boolean             | boolean                          | INTEGER |
 * | `json`    | T, plain JSON       | keyword holding text, stored only| TEXT    |
 * | `places`  | readonly bigint[]   | long, searched, no doc values    | own table |
 *
 * Only what is searched or sorted is indexed. Amounts are `long` in the token's smallest unit (the chain bounds every
 * token to int64): exact in both stores, never double, float or scaled_float.
 */
export type FieldKind = 'keyword' | 'text' | 'long' | 'int' | 'bool' | 'json' | 'places'

export type Field<T = unknown> = {
  readonly kind: FieldKind
  /** Searched or sorted by: has an inverted index or points (and doc values when `sorted`). */
  readonly searched: boolean
  readonly sorted: boolean
  readonly optional: boolean
  /** Carries the type only; never set. */
  readonly type?: T
}

const field = <T>(kind: FieldKind, use: { searched?: boolean; sorted?: boolean } = {}): Field<T> => ({
  kind,
  searched: use.searched ?? false,
  sorted: use.sorted ?? false,
  optional: false,
})

/** Short text that is searched or sorted by; never free text of a chain user. */
export const keyword = (): Field<string> => field('keyword', { searched: true, sorted: true })
/** Text that is only given back. */
export const text = (): Field<string> => field('text')
/** 64-bit integer that is only given back. */
export const long = (): Field<bigint> => field('long')
/** 64-bit integer that is searched and sorted by. */
export const sortedLong = (): Field<bigint> => field('long', { searched: true, sorted: true })
/** 64-bit integer that is found by its exact value, never sorted by. */
export const searchedLong = (): Field<bigint> => field('long', { searched: true })
/** Count, height or position: a number below 2^53 that is only given back. */
export const int = (): Field<number> => field('int')
/** Count, height or position that is searched and sorted by. */
export const sortedInt = (): Field<number> => field('int', { searched: true, sorted: true })
export const bool = (): Field<boolean> => field('bool')
/** Plain JSON (strings, safe numbers, booleans, arrays, objects with fixed keys): names and amounts inside are text. */
export const json = <T>(): Field<T> => field('json')
/** Places of a row in the lists it belongs to: list number · 2^32 + ordinal. */
export const places = (): Field<readonly bigint[]> => field('places', { searched: true })

/** The field may be absent. */
export const optional = <T>(of: Field<T>): Field<T | undefined> =>
  ({ ...of, optional: true }) as Field<T | undefined>
