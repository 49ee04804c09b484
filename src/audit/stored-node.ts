import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { BlockSource } from '#node/port.ts'
import type { Identity, Published } from '#store/port.ts'
import { type AuditSource, storedBlocks } from './source.ts'

/**
 * A node that serves the stored blocks up to a published height. Each block is checked by its parent, its
 * merkle roots and its own hash.
 */
export const storedNode = (
  source: Omit<AuditSource, 'node' | 'sampled'>,
  { chainId }: Identity,
  at: Published,
): BlockSource => ({
  name: 'the stored blocks',
  chainInfo: async () => ({
    chainId,
    netName: '',
    headBlock: at.height,
    headHash: at.hash,
    headTime: at.time,
    libBlock: at.height,
    libHash: at.hash,
    libTime: at.time,
  }),
  blockHash: async height => {
    const doc = await source.store.read(view => view.get(blocks, blockId(height)), { damaged: true })
    return doc?.hash
  },
  blocks: async function* ({ from, to, parent }) {
    try {
      const all = { ...source, node: undefined, sampled: () => false }
      for await (const run of storedBlocks(all, { from, to, parent })) yield* run
    } catch (error) {
      // 'defect' comes from tables of another version, which this one cannot read.
      if (!(error instanceof Failure) || (error.kind !== 'bad_block' && error.kind !== 'defect')) throw error
      throw new Failure('bad_block', error.message, {
        help: 'The stored blocks are damaged, so nothing can be derived from them. Set a node with --node.',
      })
    }
  },
})
