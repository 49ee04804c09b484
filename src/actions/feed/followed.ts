/** Where the rows that come to a list are found. */
export type Followed =
  | {
      readonly kind: 'records'
      /** Key of the list (`listOf`). */
      readonly key: string
      /** undefined: the list has no row yet. */
      readonly number: number | undefined
    }
  /** Changes of a series, by its key (`seriesOf`). */
  | { readonly kind: 'series'; readonly key: string }
  | { readonly kind: 'transactions' }
  | { readonly kind: 'blocks' }
