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
