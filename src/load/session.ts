import { Failure } from '#failure/failure.ts'
import type { BlockSource } from '#node/port.ts'
import type { Identity, Published, Store, Writer } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { type Batches, batching, partitioning } from './batches.ts'
import { collector } from './collect.ts'
import { openDeriver } from './deriver.ts'
import { fill, type Stages, stageTimer } from './fill.ts'
import { irreversible } from './irreversible.ts'
import type { LoadOptions } from './load-options.ts'
import { isHashAgreed, proving } from './proving.ts'

/** Polling interval in milliseconds, a fifth of the block time: on average a block waits half of it. */
const POLL_MS = 100
/** Most new blocks that count as following: the last irreversible block advances by a few, or some dozens. */
const FOLLOWED = 50

/** A period in which the store is locked: it ends when done, or with the first failure. */
export type Session = {
  /** Last committed block. */
  readonly checkpoint: Published | undefined
  /** Loads until done or aborted. */
  run(): Promise<void>
  close(): Promise<void>
}

type Parts = { readonly node: BlockSource; readonly store: Store; readonly identity: Identity }

export async function session({ node, store, identity }: Parts, options: LoadOptions): Promise<Session> {
  const writer = await store.takeOver(identity)
  const { signal, to = Number.POSITIVE_INFINITY, pollMs = POLL_MS, clock = systemClock } = options
  const stages = await openStages(writer, node, options)
  const final = irreversible(node, options.log, clock.now)
  const height = (): number => writer.checkpoint?.height ?? -1
  return {
    get checkpoint() {
      return writer.checkpoint
    },
    run: async () => {
      while (!signal.aborted) {
        const lib = await final.read({ height: height(), time: writer.checkpoint?.time }, signal)
        const target = lib === undefined ? -1 : Math.min(to, lib)
        requireFloor(writer.floor, { target, lib })
        if (lib !== undefined && target > height())
          await fill(stages, node.blocks(nextBlocks(writer, { to: target, lib }, signal)), { lib, signal })
        else if (lib !== undefined && (options.once || height() >= to)) return
        else await clock.sleep(pollMs, signal)
      }
    },
    close: async () => {
      // The store completes or drops the batch in progress; either way the batch is whole or absent.
      await stages.batches.settle().catch(() => undefined)
      await writer.release().catch(() => undefined)
    },
  }
}

async function openStages(
  writer: Writer,
  node: BlockSource,
  options: LoadOptions,
): Promise<Stages & { readonly batches: Batches }> {
  const { signal, recorded, to = Number.POSITIVE_INFINITY, onProgress, onDerived, clock = systemClock } = options
  const time = stageTimer(clock)
  const before = writer.checkpoint?.height ?? -1
  let [transactions, records] = [0, 0]
  const partitions = partitioning(writer.partitions)
  const derive = openDeriver({ writer, stored: await writer.openState(), partition: partitions.next })
  const proof = proving(derive, {
    checkpoint: writer.checkpoint,
    recorded,
    agreed: end => isHashAgreed(node, end, signal),
  })
  const batches = batching(
    {
      ...{ writer, deriver: derive, proof, partitions, clock },
      bounds: options.batch ?? writer.bounds,
      collect: options.collect ?? collector(),
    },
    batch => {
      options.onCommitted?.(batch)
      const { height, lib } = batch.end
      transactions += batch.transactions
      records += batch.records
      onProgress({
        ...{ height, target: Math.min(to, lib), lib },
        ...{ blocks: height - before, transactions, records, spent: time.spent },
      })
    },
  )
  return { deriver: derive, proof, batches, clock, time, onDerived }
}

/** The blocks after the stored ones, up to `to`. */
function nextBlocks(
  { checkpoint }: Writer,
  { to, lib }: { readonly to: number; readonly lib: number },
  signal: AbortSignal,
) {
  const from = (checkpoint?.height ?? -1) + 1
  const parent = checkpoint === undefined ? {} : { parent: checkpoint.hash }
  return { from, to, lib, signal, following: to - from < FOLLOWED, ...parent }
}

/** Throws if the blocks to load end below a batch that was begun. A node that has no such block yet may have it later. */
function requireFloor(
  floor: number | undefined,
  { target, lib }: { readonly target: number; readonly lib: number | undefined },
): void {
  if (floor === undefined || lib === undefined || target >= floor) return
  const begun = `A loader whose state file is lost had begun to store the blocks up to ${floor}`
  if (lib < floor)
    throw new Failure('unavailable', `${begun}, but the node has only the blocks up to ${lib}.`, {
      help: 'Wait until the node has them, or set another node with --node.',
    })
  throw new Failure('usage', `${begun}; loading cannot end at block ${target}.`, {
    help: `Load at least up to block ${floor} (--to).`,
  })
}
