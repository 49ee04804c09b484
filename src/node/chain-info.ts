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

/** The identity of a chain: its id and the hash of its first block. */
export type ChainIdentity = { readonly chainId: number; readonly genesis: string }

/** The reason why a node must not be asked about the stored chain. */
export type Unfit =
  /** The node serves another chain: `genesis block 5gQ…, not 8Wx…`. */
  | { readonly is: 'foreign'; readonly why: string }
  /** The node serves another branch of the same chain: its irreversible block at a stored height differs. */
  | { readonly is: 'apart'; readonly height: number; readonly stored: string; readonly there: string }
