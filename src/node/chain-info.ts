/** The chain's head and last irreversible block as a node reports them. Times in nanoseconds since 1970. */
export type ChainInfo = {
  readonly chainId: number
  readonly netName: string
  readonly headBlock: number
  readonly headHash: string
  readonly headTime: bigint
  readonly libBlock: number
  readonly libHash: string
  readonly libTime: bigint
}

/** Which chain a node has. */
export type ChainIdentity = { readonly chainId: number; readonly genesis: string }

/** Why a node must not be asked about what is stored. */
export type Unfit =
  /** It is of another chain: `genesis block 5gQ…, not 8Wx…`. */
  | { readonly is: 'foreign'; readonly why: string }
  /** It is of the same chain, but on another branch: it has another irreversible block at a height that is stored. */
  | { readonly is: 'apart'; readonly height: number; readonly stored: string; readonly there: string }
