import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { Published, Store } from './port.ts'

/** The blocks of a store, for comparing nodes with them (`node/judge.ts`). `hashAt` is undefined for what is not stored. */
export const storedBlocks = (store: Pick<Store, 'published' | 'read'>, signal?: AbortSignal) => ({
  last: (): Promise<Published | undefined> => store.published(),
  hashAt: (height: number): Promise<string | undefined> =>
    store.read(
      async view => (height > view.at.height ? undefined : (await view.get(blocks, blockId(height)))?.hash),
      { ...(signal === undefined ? {} : { signal }), damaged: true },
    ),
})
