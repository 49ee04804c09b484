import type { Field } from './fields.ts'

export type Fields = Readonly<Record<string, Field>>

/** An order in which documents of an index are read, page by page. */
export type Order = {
  /** Field whose value all documents of one ranking share; absent: all documents. */
  readonly group?: string
  /** At least one of these fields must be above zero; absent: no condition. Of a counted order: its amount. */
  readonly positive?: readonly string[]
  /** Field that must be true; absent: no condition. */
  readonly where?: string
  /** Sort keys, the last of which makes the order total. */
  readonly by: readonly (readonly [field: string, direction: 'asc' | 'desc'])[]
  /** Members of its groups are counted (`segment.ts`), so that a page costs the same at any depth. */
  readonly counted?: true
}

export type Index = {
  /** Name without prefix, as in `indices/` and in `iostlens indices print`. */
  readonly name: string
  /**
   * `history`: written once, never changed, id from the position in the chain.
   * `state`: one document per thing, as of the published height, never deleted.
   */
  readonly kind: 'history' | 'state'
  readonly fields: Fields
  readonly orders: Readonly<Record<string, Order>>
  /**
   * Field with the name of the document, which is its id, by whose beginning documents are found (`View.startingWith`);
   * where it is optional, only those that have it are found.
   */
  readonly named: string | undefined
  /** Fields an exact value of which is looked up (`View.find`). */
  readonly finds: readonly string[]
  /** Fields that the id is made of (`position.ts`), of history; none of state. */
  readonly position: readonly string[]
}

/** Document type of an index: its fields and its id. */
export type DocOf<I extends Index> = { readonly id: string } & {
  readonly [K in keyof I['fields'] as undefined extends TypeOf<I['fields'][K]> ? never : K]: TypeOf<
    I['fields'][K]
  >
} & {
  readonly [K in keyof I['fields'] as undefined extends TypeOf<I['fields'][K]> ? K : never]?: Exclude<
    TypeOf<I['fields'][K]>,
    undefined
  >
}
type TypeOf<F> = F extends Field<infer T> ? T : never

/** Declares an index; keeps the literal types so that documents and orders are typed by it. */
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
