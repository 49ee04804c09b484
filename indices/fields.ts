/**
 * The kinds of field a document is made of. One definition gives the TypeScript type, the Elasticsearch mapping
 * (`dynamic: strict`) and the SQLite column, so the three can not drift.
 *
 * | kind      | TypeScript          | Elasticsearch                    | SQLite  |
 * |-----------|---------------------|----------------------------------|---------|
 * | `keyword` | string              | keyword, searched                | TEXT    |
 * | `text`    | string              | keyword, stored only             | TEXT    |
 * | `hash`    | string              | keyword, stored only             | BLOB: its 32 bytes (other text: TEXT) |
 * | `hashes`  | string              | keyword, stored only             | BLOB: 32 bytes each (other text: TEXT) |
 * | `word`    | string              | keyword, stored only             | INTEGER: number of a frequent text (other text: TEXT) |
 * | `packed`  | string              | keyword, stored only             | BLOB: compressed (short text: TEXT) |
 * | `digits`  | string              | keyword, stored only             | BLOB: four bits a sign (other text: TEXT) |
 * | `long`    | bigint (int64)      | long, sent as text               | INTEGER |
 * | `int`     | number (< 2^53)     | long                             | INTEGER |
 * | `bool`    | boolean             | boolean                          | INTEGER |
 * | `json`    | T, plain JSON       | keyword holding text, stored only| TEXT    |
 * | `places`  | readonly bigint[]   | long, searched, no doc values    | own table |
 * | `hash8`   | bigint (int64)      | keyword of 12 letters, searched  | INTEGER |
 *
 * Only what is searched or sorted is indexed. Amounts are `long` in the token's smallest unit (the chain bounds every
 * token to int64): exact in both stores, never double, float or scaled_float.
 */
export type FieldKind =
  | 'keyword'
  | 'text'
  | 'hash'
  | 'hashes'
  | 'word'
  | 'packed'
  | 'digits'
  | 'long'
  | 'int'
  | 'bool'
  | 'json'
  | 'places'
  | 'hash8'

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
/** Name by whose beginning a document is found (`Index.named`); never sorted by. */
export const name = (): Field<string> => field('keyword', { searched: true })
/** Text that is only given back. */
export const text = (): Field<string> => field('text')
/** Text that is only given back and is base58 of 32 bytes as a rule: a hash or a key. */
export const hash = (): Field<string> => field('hash')
/** The same, several joined by one space. */
export const hashes = (): Field<string> => field('hashes')
/** Text that is only given back and often one of a few. */
export const word = (): Field<string> => field('word')
/** Text that is only given back, of some length and much like that of other documents. */
export const packed = (): Field<string> => field('packed')
/** Text that is only given back, mostly digits with signs between them. */
export const digits = (): Field<string> => field('digits')
/** 64-bit integer that is only given back. */
export const long = (): Field<bigint> => field('long')
/** 64-bit integer that is searched and sorted by. */
export const sortedLong = (): Field<bigint> => field('long', { searched: true, sorted: true })
/**
 * First 8 bytes of a hash as a signed integer: found by its exact value, never sorted by. In Elasticsearch a term and no
 * number: a segment's list of terms says five times as fast as its tree of points that it lacks a value.
 */
export const hashStart = (): Field<bigint> => field('hash8', { searched: true })
/** Count, height or position: a number below 2^53 that is only given back. */
export const int = (): Field<number> => field('int')
/** Count, height or position that is searched and sorted by. */
export const sortedInt = (): Field<number> => field('int', { searched: true, sorted: true })
export const bool = (): Field<boolean> => field('bool')
/** A condition of an order (`Order.where`). */
export const searchedBool = (): Field<boolean> => field('bool', { searched: true })
/** Plain JSON (strings, safe numbers, booleans, arrays, objects with fixed keys): names and amounts inside are text. */
export const json = <T>(): Field<T> => field('json')
/** Places of a row in the lists it belongs to: list number · 2^32 + ordinal. */
export const places = (): Field<readonly bigint[]> => field('places', { searched: true })

/** The field may be absent. */
export const optional = <T>(of: Field<T>): Field<T | undefined> =>
  ({ ...of, optional: true }) as Field<T | undefined>
