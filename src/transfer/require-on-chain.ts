import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { StoreManifest } from './manifest.ts'

/**
 * Throws 'conflict' unless the last block of a copy is on the node's chain. The node's block is proved at the
 * level of the node. Throws 'unavailable' while the node does not have the block.
 */
export async function requireOnChain(
  node: Pick<Node, 'name' | 'chainInfo' | 'blocks'>,
  { chainId, height, hash }: Pick<StoreManifest, 'chainId' | 'height' | 'hash'>,
  signal: AbortSignal,
): Promise<void> {
  const info = await node.chainInfo(signal)
  if (info.chainId !== chainId)
    throw new Failure('conflict', `The copy is of chain ${chainId}, but ${node.name} serves ${info.chainId}.`, {
      help: 'Set --node to a node of the chain that the copy is of.',
    })
  if (info.libBlock < height)
    throw new Failure('unavailable', `The copy ends at block ${height}, but ${node.name} at block ${info.libBlock}.`, {
      help: 'Wait until the node has it, or set another one.',
    })
  for await (const { block } of node.blocks({ from: height, to: height, lib: info.libBlock, signal }))
    if (block.hash !== hash)
      throw new Failure(
        'conflict',
        `The copy ends with block ${height} ${hash}, but that block of ${node.name} is ${block.hash}: they are of different chains.`,
        { help: 'Set --node to a node of the chain that the copy is of, or take another copy.' },
      )
}
