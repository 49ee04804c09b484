/**
 * The kinds of field that a document is made of. One definition gives the TypeScript type, the Elasticsearch
 * mapping (`dynamic: strict`) and the SQLite column, so the three cannot drift.
 *
 * | kind      | TypeScript          | Elasticsearch                    | SQLite  |
 * |-----------|---------------------|----------------------------------|---------|
 * | `keyword` | string              | keyword, searched                | TEXT    |
 * | `text`    | string              | keyword, stored only             | TEXT    |
 * | `hash`    | string              | keyword, stored only             | BLOB: its 32 bytes (other text: TEXT) |
 * | `hashes`  | string              | keyword, stored only             | BLOB: 32 bytes each (other text: TEXT) |
 * | `word`    | string              | keyword, stored only             | INTEGER: number of a frequent text (other text: TEXT) |
 * | `packed`  | string              | keyword, stored only             | BLOB: compressed (short text: TEXT) |
 * | `digits`  | string              | keyword, stored only             | BLOB: four bits per character (other text: TEXT) |
 * | `long`    | bigint (int64)      | long, sent as text               | INTEGER |
 * | `int`     | number (< 2^53)     | long                             | INTEGER |
 * | `bool`    | boolean             | boolean                          | INTEGER |
 * | `json`    | T, plain JSON       | keyword holding text, stored only| TEXT    |
 * | `places`  | readonly bigint[]   | long, searched, no doc values    | own table |
 * | `hash8`   | bigint (int64)      | keyword of 12 characters, searched | INTEGER |
 *
 * Only fields that are searched or sorted are indexed. Amounts are `long` in the token's smallest unit (the
 * chain bounds every token to int64): exact in both stores, never double, float or scaled_float.
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
  /** Has an inverted index or points, for queries and filters. Fields with `sorted` have doc values, too. */
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

/** Short text for searching and sorting; never free text of a chain user. */
export const keyword = (): Field<string> => field('keyword', { searched: true, sorted: true })
/** Name whose prefix finds the document (`Index.named`); never sorted by. */
export const name = (): Field<string> => field('keyword', { searched: true })
/** Text that is stored only, neither searched nor sorted. */
export const text = (): Field<string> => field('text')
/** Stored-only text that is usually base58 of 32 bytes: a hash or a key. */
export const hash = (): Field<string> => field('hash')
/** Several hashes or keys, joined by single spaces. */
export const hashes = (): Field<string> => field('hashes')
/** Stored-only text that often is one of a few values. */
export const word = (): Field<string> => field('word')
/** Stored-only text of some length, similar to the text of other documents. */
export const packed = (): Field<string> => field('packed')
/** Stored-only text, mostly digits with signs between them. */
export const digits = (): Field<string> => field('digits')
/** 64-bit integer that is stored only. */
export const long = (): Field<bigint> => field('long')
/** 64-bit integer for searching and sorting. */
export const sortedLong = (): Field<bigint> => field('long', { searched: true, sorted: true })
/**
 * First 8 bytes of a hash as a signed integer: found by its exact value, never sorted by. Elasticsearch stores it as a
 * term, not as a number: the term list of a segment reports a missing value five times as fast as its tree of points.
 */
export const hashStart = (): Field<bigint> => field('hash8', { searched: true })
/** Count, height or position: a number below 2^53 that is stored only. */
export const int = (): Field<number> => field('int')
/** Count, height or position for searching and sorting. */
export const sortedInt = (): Field<number> => field('int', { searched: true, sorted: true })
export const bool = (): Field<boolean> => field('bool')
/** A condition of an order (`Order.where`). */
export const searchedBool = (): Field<boolean> => field('bool', { searched: true })
/** Plain JSON (strings, safe numbers, booleans, arrays, objects with fixed keys). Names and amounts in it are text. */
export const json = <T>(): Field<T> => field('json')
/** Places of a row in the lists it belongs to: list number · 2^32 + ordinal. */
export const places = (): Field<readonly bigint[]> => field('places', { searched: true })

/** The field may be absent. */
export const optional = <T>(of: Field<T>): Field<T | undefined> => ({ ...of, optional: true }) as Field<T | undefined>

type Fields = Readonly<Record<string, Field>>

/** A sort order in which documents of an index are read page by page. */
export type Order = {
  /** Field that groups the documents: each value has a ranking of its own. Absent: one ranking of all documents. */
  readonly group?: string
  /** At least one of these fields must be above zero; absent: no condition. */
  readonly positive?: readonly string[]
  /** Field that must be true; absent: no condition. */
  readonly where?: string
  /** Sort keys, the last of which makes the order total. */
  readonly by: readonly (readonly [field: string, direction: 'asc' | 'desc'])[]
  /** The members of each group are counted (`countedOrder`). */
  readonly counted?: true
}

/**
 * An order whose members are counted by group (`segment.ts`), so that a page costs the same at any depth. It sorts by an
 * amount, the largest first, then by a name. `positive`: only members with an amount above zero are in it.
 */
export function countedOrder(
  [amount, member]: readonly [amount: string, member: string],
  { positive, ...more }: { readonly positive?: true } & Pick<Order, 'group' | 'where'> = {},
): Order {
  return {
    ...more,
    ...(positive && { positive: [amount] }),
    by: [
      [amount, 'desc'],
      [member, 'asc'],
    ],
    counted: true,
  }
}

export type Index = {
  /** Name without prefix. In Elasticsearch, a kind of state is a part of an index (`store/elastic/schema/names.ts`). */
  readonly name: string
  /**
   * `history`: written once, never changed; the id is the position in the chain.
   * `state`: one document per thing, as of the published height, never deleted.
   */
  readonly kind: 'history' | 'state'
  readonly fields: Fields
  readonly orders: Readonly<Record<string, Order>>
  /**
   * Field with the name of the document, which is also its id. Documents are found by a prefix of it
   * (`View.startingWith`). If the field is optional, only documents that have it are found.
   */
  readonly named: string | undefined
  /** Fields that are looked up by exact value (`View.find`). */
  readonly finds: readonly string[]
  /** Fields that make up the id of a history document (`list.ts`). Empty for state. */
  readonly position: readonly string[]
}

/** Document type of an index: its fields and its id. */
export type DocOf<I extends Index> = { readonly id: string } & {
  readonly [K in keyof I['fields'] as undefined extends TypeOf<I['fields'][K]> ? never : K]: TypeOf<I['fields'][K]>
} & {
  readonly [K in keyof I['fields'] as undefined extends TypeOf<I['fields'][K]> ? K : never]?: Exclude<
    TypeOf<I['fields'][K]>,
    undefined
  >
}
type TypeOf<F> = F extends Field<infer T> ? T : never

/** Declares an index. Literal types are kept, so documents and orders are typed by the declaration. */
export const defineIndex = <
  const N extends string,
  const K extends 'history' | 'state',
  F extends Fields,
  const O extends Readonly<Record<string, Order>> = Record<never, never>,
  const S extends readonly string[] = readonly [],
  const M extends string | undefined = undefined,
>(index: {
  name: N
  kind: K
  fields: F
  orders?: O
  finds?: S
  named?: M
  position?: readonly string[]
}) => ({
  name: index.name,
  kind: index.kind,
  fields: index.fields,
  orders: index.orders ?? ({} as O),
  finds: index.finds ?? ([] as unknown as S),
  named: index.named as M,
  position: index.position ?? [],
})
