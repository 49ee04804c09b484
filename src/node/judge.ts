import type { ChainIdentity, Unfit } from './chain-info.ts'

/** What a store holds, as far as a node is compared with it. */
export type StoredChain = {
  readonly identity: ChainIdentity
  /** The last stored block. */
  readonly last: { readonly height: number; readonly hash: string }
  /** The hash of the stored block of a height; undefined: there is none, or the store cannot tell. */
  readonly hashAt: (height: number) => Promise<string | undefined>
}

/** A node as it is compared with a store. */
export type JudgedNode = {
  readonly chainId: number
  /** Its last irreversible block. */
  readonly libBlock: number
  /** The hash of its irreversible block of a height; undefined: it has none. */
  readonly blockHash: (height: number) => Promise<string | undefined>
}

/** How a node compares with a store. */
export type Verdict =
  /** It has the last stored block. */
  | { readonly is: 'fit' }
  /** Its last irreversible block is below the last stored one, and the same as the stored one of that height. */
  | { readonly is: 'behind' }
  /** It does not return an irreversible block that it must have. */
  | { readonly is: 'lacks'; readonly height: number }
  | Unfit

/**
 * Compares a node with a store: by the chain's number and first block, then by the block at the highest height that both
 * have as irreversible. The hash of a block covers all blocks before it, so one height is enough.
 */
export const judge = async (
  { chainId, libBlock, blockHash }: JudgedNode,
  { identity, last, hashAt }: StoredChain,
): Promise<Verdict> => {
  const genesis = await blockHash(0)
  const why = whyForeign(identity, { chainId, genesis })
  if (why !== undefined) return { is: 'foreign', why }
  if (genesis === undefined) return { is: 'lacks', height: 0 }
  const height = Math.min(libBlock, last.height)
  const stored = height === last.height ? last.hash : await hashAt(height)
  const there = await blockHash(height)
  if (there === undefined) return { is: 'lacks', height }
  if (stored !== undefined && stored !== there) return { is: 'apart', height, stored, there }
  return { is: libBlock < last.height ? 'behind' : 'fit' }
}

/** Why a node is of another chain than ours, as far as both are known; undefined: it is not. */
export const whyForeign = (
  ours: Partial<ChainIdentity>,
  its: { readonly chainId: number; readonly genesis: string | undefined },
): string | undefined => {
  if (ours.chainId !== undefined && its.chainId !== ours.chainId)
    return `chain ${its.chainId}, not ${ours.chainId}`
  if (ours.genesis !== undefined && its.genesis !== undefined && its.genesis !== ours.genesis)
    return `genesis block ${its.genesis}, not ${ours.genesis}`
  return undefined
}

/** What is wrong about a node, without the final dot; `name`: the node's, or `the node`. */
export const unfitText = (unfit: Unfit, name: string): string =>
  unfit.is === 'foreign'
    ? `${name.replace(/^the node$/, 'The node')} serves another chain than the store holds: ${unfit.why}`
    : `Block ${unfit.height} is ${unfit.stored} in the store and ${unfit.there} at ${name}`

/** What is wrong about a node that does not return a block. */
export const lacksText = ({ height }: Extract<Verdict, { is: 'lacks' }>, name: string): string =>
  `Block ${height} is stored, and ${name} has no irreversible block of that height`

/** What helps against it. */
export const unfitHelp = ({ is }: Unfit, name: string): string =>
  is === 'foreign'
    ? 'Set --node to a node of the stored chain, or --store to another store.'
    : `If the node is right, run: iostlens repair --node ${name}. If it is wrong, set another one with --node.`
