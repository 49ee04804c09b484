import { Failure } from '#failure/failure.ts'
import type { BlockSource, SaidHash } from '#node/port.ts'
import type { Published } from '#store/port.ts'

type Asked = Pick<BlockSource, 'name' | 'hashes'>

/**
 * Whether the nodes agree on a block: at least two report its hash, and none another one. A node that is out of reach or
 * has not reached the block does not count. Throws Failure 'bad_block' with both nodes and both hashes where they differ:
 * which one is right is not decided here.
 */
export const agreedOn = async (
  node: Asked,
  { height, hash }: Pick<Published, 'height' | 'hash'>,
  signal: AbortSignal,
): Promise<boolean> => {
  // On stop the batch is kept without asking the nodes.
  const said = signal.aborted ? [] : await heard(node, height, signal)
  const other = said.find(each => each.hash !== hash)
  const same = said.filter(each => each.hash === hash)
  if (other === undefined) return same.length > 1
  throw new Failure(
    'bad_block',
    `The nodes disagree: block ${height} has the hash ${hash} at ${same[0]?.node ?? node.name}, but ${other.hash} at ${other.node}.`,
    {
      help: 'Find out which node is right and set only that one with --node. The block was not stored.',
      details: { height },
    },
  )
}

const heard = async (node: Asked, height: number, signal: AbortSignal): Promise<readonly SaidHash[]> => {
  try {
    return (await node.hashes?.(height, signal)) ?? []
  } catch (error) {
    if (error instanceof Failure && error.kind === 'deadline') return []
    throw error
  }
}
