import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { Published, Store } from './port.ts'

/** The blocks of a store, to compare nodes with (`node/pool.ts`). `hashAt`: undefined for a missing block. */
export const storedBlocks = (store: Pick<Store, 'published' | 'read'>, signal?: AbortSignal) => ({
  last: (): Promise<Published | undefined> => store.published(),
  hashAt: (height: number): Promise<string | undefined> =>
    store.read(async view => (height > view.at.height ? undefined : (await view.get(blocks, blockId(height)))?.hash), {
      signal,
      damaged: true,
    }),
})
