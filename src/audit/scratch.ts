import { batchBuilder } from '#load/batch-builder.ts'
import { deriver } from '#load/deriver.ts'
import type { Identity, Published, Store, Writer } from '#store/port.ts'
import { type Source, storedBlocks } from './source.ts'

/** As a loader's, but nobody waits for what is in it. */
const BOUNDS = { documents: 20_000, bytes: 16_000_000 }

/** A store that is filled anew from the blocks of another one. */
export type Scratch = {
  /** Last block derived; undefined: none yet. */
  readonly end: Published | undefined
  /** Derives up to `at`. What can not follow is thrown as Failure 'bad_block' or 'defect'. */
  fill(at: Published, onHeight: (height: number) => void): Promise<void>
  close(): Promise<void>
}

/** Where the blocks of a scratch store come from. */
type Origin = {
  /** The store whose blocks they are: lists say in which of its partitions their rows begin. */
  readonly audited: Pick<Store, 'partitions'>
  readonly source: Source
  readonly identity: Identity
}

export const openScratch = async (store: Store, { audited, source, identity }: Origin): Promise<Scratch> => {
  await store.create()
  const writer: Writer = await store.takeOver(identity)
  let firsts: readonly number[] = [0]
  let next = (writer.checkpoint?.height ?? -1) + 1
  const derive = deriver(writer, () => firsts.findLastIndex(first => first <= next))
  return {
    get end() {
      return writer.checkpoint
    },
    fill: async (at, onHeight) => {
      const { checkpoint } = writer
      firsts = await audited.partitions()
      let batch = batchBuilder(BOUNDS)
      const commit = async (): Promise<void> => {
        if (batch.empty) return
        const built = batch.build(derive.cut(), writer.filling, at.lib)
        batch = batchBuilder(BOUNDS)
        await writer.commit(built)
        derive.settled()
        onHeight(built.end.height)
      }
      const range = { from: (checkpoint?.height ?? -1) + 1, to: at.height, parent: checkpoint?.hash }
      for await (const run of storedBlocks(source, range)) {
        await derive.begin(run)
        for (const loaded of run) {
          batch.add(await derive.derive(loaded))
          next = loaded.block.height + 1
          if (batch.full(derive.changed())) await commit()
        }
      }
      await commit()
    },
    close: () => writer.release(),
  }
}
