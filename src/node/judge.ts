import type { ChainIdentity, Unfit } from './chain-info.ts'

/** The stored chain, for comparison with a node. */
export type StoredChain = {
  readonly identity: ChainIdentity
  /** The last stored block. */
  readonly last: { readonly height: number; readonly hash: string }
  /** The hash of the stored block at a height; undefined: there is none, or the store does not answer. */
  readonly hashAt: (height: number) => Promise<string | undefined>
}

/** A node, for comparison with a store. */
export type JudgedNode = {
  readonly chainId: number
  /** Its last irreversible block. */
  readonly libBlock: number
  /** The hash of the node's irreversible block at a height; undefined: it has none. */
  readonly blockHash: (height: number) => Promise<string | undefined>
}

/** The result of comparing a node with a store. */
export type Verdict =
  /** The node has the last stored block. */
  | { readonly is: 'fit' }
  /**
   * The node's last irreversible block is below the last stored one, and does not contradict the stored one
   * at its height.
   */
  | { readonly is: 'behind' }
  /** The node does not return an irreversible block that it must have. */
  | { readonly is: 'lacks'; readonly height: number }
  | Unfit

/**
 * Compares a node with a store: first by chain id and first block, then by the block at the highest height
 * that is irreversible at both. The hash of a block covers all blocks before it, so one height is enough.
 */
export async function judge(
  { chainId, libBlock, blockHash }: JudgedNode,
  { identity, last, hashAt }: StoredChain,
): Promise<Verdict> {
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

/** The reason why a node serves another chain than ours, as far as both are known; undefined: it does not. */
export function whyForeign(
  ours: Partial<ChainIdentity>,
  its: { readonly chainId: number; readonly genesis: string | undefined },
): string | undefined {
  if (ours.chainId !== undefined && its.chainId !== ours.chainId) return `chain ${its.chainId}, not ${ours.chainId}`
  if (ours.genesis !== undefined && its.genesis !== undefined && its.genesis !== ours.genesis)
    return `genesis block ${its.genesis}, not ${ours.genesis}`
  return undefined
}

/** Describes an unfit node, without the final full stop; `name`: the node's name, or `the node`. */
export const unfitText = (unfit: Unfit, name: string): string =>
  unfit.is === 'foreign'
    ? `${name.replace(/^the node$/, 'The node')} serves another chain than the store holds: ${unfit.why}`
    : `Block ${unfit.height} is ${unfit.stored} in the store and ${unfit.there} at ${name}`

/** Describes a node that does not return a block. */
export const lacksText = ({ height }: Extract<Verdict, { is: 'lacks' }>, name: string): string =>
  `Block ${height} is stored, and ${name} has no irreversible block of that height`

/** Suggests a remedy for an unfit node. */
export const unfitHelp = ({ is }: Unfit, name: string): string =>
  is === 'foreign'
    ? 'Set --node to a node of the stored chain, or --store to another store.'
    : `If the node is right, run: 'iostlens repair --node ${name}'. If it is wrong, set another one with --node.`
