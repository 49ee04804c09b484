import type { Field } from './fields.ts'

export type Fields = Readonly<Record<string, Field>>

/** A sort order in which documents of an index are read page by page. */
export type Order = {
  /** Field that groups the documents: each value has a ranking of its own. Absent: one ranking of all documents. */
  readonly group?: string
  /** At least one of these fields must be above zero; absent: no condition. A counted order names only its amount. */
  readonly positive?: readonly string[]
  /** Field that must be true; absent: no condition. */
  readonly where?: string
  /** Sort keys, the last of which makes the order total. */
  readonly by: readonly (readonly [field: string, direction: 'asc' | 'desc'])[]
  /** The members of each group are counted (`segment.ts`), so a page costs the same at any depth. */
  readonly counted?: true
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
  /** Fields that make up the id of a history document (`position.ts`). Empty for state. */
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
