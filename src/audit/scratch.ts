import type { LoadedBlock } from '#chain/block.ts'
import { batching, type Partitioning } from '#load/batches.ts'
import type { Collect } from '#load/collect.ts'
import { openDeriver } from '#load/deriver.ts'
import { fill, stageTimer } from '#load/fill.ts'
import { PROVED_BEFORE } from '#load/proving.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import type { Identity, Published, Store, Writer } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { type AuditSource, storedBlocks } from './source.ts'

/** A temporary store that is filled from the blocks of another one. */
export type Scratch = {
  /** The last derived block; undefined: none yet. */
  readonly end: Published | undefined
  /** Derives up to `at`. A block that cannot be derived throws Failure 'bad_block' or 'defect'. */
  fill(at: Published, onHeight: (height: number) => void): Promise<void>
  close(): Promise<void>
}

/** The source of the blocks of a scratch store. */
type Origin = {
  /** The store being audited. Lists record the partitions of that store in which their rows begin. */
  readonly audited: Pick<Store, 'partitions'>
  readonly source: AuditSource
  readonly identity: Identity
  readonly collect: Collect
}

export async function openScratch(store: Store, { audited, source, identity, collect }: Origin): Promise<Scratch> {
  await store.create()
  const writer = await store.takeOver(identity)
  const partitions = createPartitioning(writer)
  const derive = openDeriver({ writer, stored: await writer.openState(), partition: partitions.next })
  const stages = {
    ...{ deriver: derive, proof: PROVED_BEFORE, clock: systemClock },
    time: stageTimer(systemClock),
  }
  let onHeight = (_height: number): void => undefined
  const batches = batching({ ...stages, writer, partitions, bounds: writer.bounds, collect }, ({ end }) =>
    onHeight(end.height),
  )
  return {
    get end() {
      return writer.checkpoint
    },
    fill: async (at, listener) => {
      onHeight = listener
      partitions.follow((await audited.partitions?.firsts()) ?? ONE_PIECE)
      const { checkpoint } = writer
      const range = { from: (checkpoint?.height ?? -1) + 1, to: at.height, parent: checkpoint?.hash }
      const blocks = flattenRuns(storedBlocks(source, range))
      await fill({ ...stages, batches }, blocks, { lib: at.lib, signal: source.signal })
      source.signal.throwIfAborted()
    },
    close: async () => {
      await batches.settle().catch(() => undefined)
      await writer.release()
    },
  }
}

/** First heights of the partitions of a store that is not partitioned. */
const ONE_PIECE: readonly number[] = [0]

/** Lists name the partitions of the audited store; the scratch store itself has only one. */
function createPartitioning(writer: Writer): Partitioning & { follow(firsts: readonly number[]): void } {
  let firsts = ONE_PIECE
  let next = (writer.checkpoint?.height ?? -1) + 1
  return {
    follow: known => {
      firsts = known
    },
    next: () => firsts.findLastIndex(first => first <= next),
    add: ({ block }) => {
      next = block.height + 1
    },
    full: () => false,
    filling: () => writer.partitions?.filling ?? NOTHING_FILLED,
  }
}

async function* flattenRuns(runs: AsyncIterable<readonly LoadedBlock[]>): AsyncGenerator<LoadedBlock> {
  for await (const run of runs) yield* run
}
