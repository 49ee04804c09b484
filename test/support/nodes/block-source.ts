import type { LoadedBlock } from '#chain/block.ts'
import type { BlockSource } from '#node/port.ts'
import { chainInfoAt } from './spoken-node.ts'

/** A node with these blocks, the last one irreversible. `hashes`: the hashes of a node that agrees with others. */
export const blockSource = (
  blocks: readonly LoadedBlock[],
  hashes?: NonNullable<BlockSource['hashes']>,
): BlockSource => ({
  name: 'hand-made',
  chainInfo: async () => chainInfoAt(blocks.length - 1),
  blockHash: async height => blocks[height]?.block.hash,
  blocks: async function* ({ from, to }) {
    yield* blocks.slice(from, to + 1)
  },
  ...(hashes === undefined ? {} : { hashes }),
})
