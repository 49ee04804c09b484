import type { LoadedBlock } from '#chain/block.ts'
import type { BlockSource } from '#node/port.ts'

/** A node with these blocks, the last one irreversible. `hashes`: the hashes of a node that agrees with others. */
export const blockSource = (
  blocks: readonly LoadedBlock[],
  hashes?: NonNullable<BlockSource['hashes']>,
): BlockSource => ({
  name: 'hand-made',
  chainInfo: async () => ({
    chainId: 1020,
    netName: 'hand-made',
    headBlock: blocks.length - 1,
    headHash: '',
    headTime: 0n,
    libBlock: blocks.length - 1,
    libHash: '',
    libTime: 0n,
  }),
  blockHash: async height => blocks[height]?.block.hash,
  blocks: async function* ({ from, to }) {
    yield* blocks.slice(from, to + 1)
  },
  ...(hashes === undefined ? {} : { hashes }),
})
