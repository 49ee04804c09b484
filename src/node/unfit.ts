/** Why a node must not be asked about what is stored. */
export type Unfit =
  /** It is of another chain: `genesis block 5gQ…, not 8Wx…`. */
  | { readonly is: 'foreign'; readonly why: string }
  /** It is of the same chain, but on another branch: it has another irreversible block at a height that is stored. */
  | { readonly is: 'apart'; readonly height: number; readonly stored: string; readonly there: string }
