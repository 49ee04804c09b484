/** Where the rows that come to a list are found. */
export type Followed =
  | {
      readonly kind: 'records'
      /** Key of the list (`listOf`). */
      readonly key: string
      /** undefined: the list has no row yet. */
      readonly number: number | undefined
    }
  | { readonly kind: 'transactions' }
  | { readonly kind: 'blocks' }
