/** Source of the new rows of a list. */
export type Followed =
  | {
      readonly kind: 'records'
      /** Key of the list (`listOf`). */
      readonly key: string
      /** Number of the list; undefined: it has no row yet. */
      readonly number: number | undefined
    }
  /** Changes of a series, by its key (`seriesOf`). */
  | { readonly kind: 'series'; readonly key: string }
  | { readonly kind: 'transactions' }
  | { readonly kind: 'blocks' }
