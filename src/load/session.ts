import { highestPossible } from '#chain/time.ts'
import { Failure, type Log } from '#failure/failure.ts'
import type { BlockSource } from '#node/port.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { Identity, Published, Store, Writer } from '#store/port.ts'
import type { ProofRecord } from '#store/published.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import {
  type Batches,
  type Collect,
  type CommittedBatch,
  createBatches,
  createCollector,
  createPartitioning,
} from './batches.ts'
import { openDeriver } from './deriver.ts'
import { fill, type Stages, type StageTimes, stageTimer } from './fill.ts'
import { createProving, isHashAgreed } from './proving.ts'
import type { RetryPolicy } from './retry.ts'

/**
 * A reader of the node's last irreversible block as reported now: it may go back, stop advancing, or be wrong once.
 * undefined: the height is not true at the moment; the caller asks again. The reader accepts a block beyond the
 * checkpoint only when the node returns that very block as irreversible: a bare number may come from another node, a
 * damaged one, or a chain that never existed. Earlier reports do not count. A node may also invent that block, so the
 * height may grow no faster than the chain could since the loaded block; at that limit the node is asked again. Anything
 * unusual is logged once. `now`: milliseconds since 1970.
 */
export function createIrreversibleReader(
  node: Pick<BlockSource, 'chainInfo' | 'blockHash'>,
  log: Log,
  now: Clock['now'] = Date.now,
) {
  let last: number | undefined
  let still = 0
  let reported: string | undefined
  /** Logs a message once, until a different message or a normal report follows. */
  const tell = (message: string, fields: Readonly<Record<string, number>>): void => {
    if (reported !== message) log('warn', message, fields)
    reported = message
  }
  const noteStill = (lib: number): void => {
    still = lib === last ? still + 1 : 0
    last = lib
    // Looks of a minute.
    if (still < 60_000 / POLL_MS) reported = undefined
    else tell("The node's last irreversible block does not advance.", { lib })
  }
  return async (loaded: number, time: bigint | undefined, signal: AbortSignal): Promise<number | undefined> => {
    const { libBlock: lib, headBlock: head } = await node.chainInfo(signal)
    // While no block time is known, some blocks are accepted without a check of the chain's age.
    const most = time === undefined ? loaded + 10_000 : highestPossible({ height: loaded, time }, now())
    if (lib > loaded && (await node.blockHash(lib, signal)) === undefined) {
      tell('The node does not have the last irreversible block it reports; retrying.', { lib, head, loaded })
      return undefined
    }
    if (lib > most) {
      tell('The node reports a last irreversible block that is too high for the age of the chain.', { lib, most })
      return most
    }
    if (lib < loaded)
      tell("The node's last irreversible block is below the loaded height; waiting for the node.", { lib, loaded })
    else noteStill(lib)
    return lib
  }
}

/** Progress of a load. Heights count from 0, so `height` −1 is an empty store. */
export type LoadProgress = {
  /** Last committed and published height. */
  readonly height: number
  /** Last height that this load aims at: `to`, or the node's last irreversible block. */
  readonly target: number
  /** The node's last irreversible block. */
  readonly lib: number
  /** Number of documents committed since the store was last locked; a load that restarts counts from 0. */
  readonly blocks: number
  readonly transactions: number
  readonly records: number
  /** Time spent since then. */
  readonly spent: StageTimes
}

/** Options of a load. */
export type LoadOptions = {
  /** Last height to load; absent: the node's last irreversible block. */
  readonly to?: number
  /** true: the load ends when there are no more blocks; false: it follows the chain. */
  readonly once: boolean
  readonly signal: AbortSignal
  /** Absent: temporary failures of node and store are retried; any other failure ends the load. */
  readonly retry?: RetryPolicy
  readonly onProgress: (progress: LoadProgress) => void
  readonly log: Log
  /** Called with each wait for proved blocks, in milliseconds. */
  readonly onFetched?: (ms: number) => void
  /** Called with the derivation time of each block in milliseconds, including its waits. */
  readonly onDerived?: (ms: number) => void
  /** Called after each batch. */
  readonly onCommitted?: (batch: CommittedBatch) => void
  /** Called at each failure after which the load restarts or ends. */
  readonly onFailure?: () => void
  /** Limits of one batch; results do not depend on them. */
  readonly batch?: BatchBounds
  /** Absent: the default collector, which keeps the memory of the process flat. */
  readonly collect?: Collect
  readonly clock?: Clock
  /** For blocks loaded from a store: the record there of their proofs. */
  readonly recorded?: ProofRecord
}

/** A period in which the store is locked: it ends when done, or with the first failure. */
export type Session = {
  /** Last committed block. */
  readonly checkpoint: Published | undefined
  /** Loads until done or aborted. */
  run(): Promise<void>
  close(): Promise<void>
}

/**
 * Milliseconds between two looks at the head of a chain that is followed, a fifth of the block time: on average a block
 * waits half of it.
 */
const POLL_MS = 100

export async function openSession(
  { node, store, identity }: { readonly node: BlockSource; readonly store: Store; readonly identity: Identity },
  options: LoadOptions,
): Promise<Session> {
  const writer = await store.takeOver(identity)
  const { signal, to = Number.POSITIVE_INFINITY, clock = systemClock } = options
  const stages = await openStages(writer, node, options).catch(async error => {
    // Nobody else would release the lock, and a retry would meet it.
    await writer.release().catch(() => undefined)
    throw error
  })
  const readIrreversible = createIrreversibleReader(node, options.log, clock.now)
  const height = (): number => writer.checkpoint?.height ?? -1
  return {
    get checkpoint() {
      return writer.checkpoint
    },
    run: async () => {
      while (!signal.aborted) {
        const lib = await readIrreversible(height(), writer.checkpoint?.time, signal)
        const target = lib === undefined ? -1 : Math.min(to, lib)
        requireFloor(writer.floor, { target, lib })
        if (lib !== undefined && target > height())
          await fill(stages, node.blocks(getNextRange(writer, { to: target, lib }, signal)), { lib, signal })
        else if (lib !== undefined && (options.once || height() >= to)) return
        else await clock.sleep(POLL_MS, signal)
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
  const { signal, recorded, to = Number.POSITIVE_INFINITY, onProgress, clock = systemClock } = options
  const time = stageTimer(clock)
  const before = writer.checkpoint?.height ?? -1
  let [transactions, records] = [0, 0]
  const partitions = createPartitioning(writer.partitions)
  const deriver = openDeriver({ writer, stored: await writer.openState(), partition: partitions.next })
  const { checkpoint } = writer
  const proof = createProving(deriver, { checkpoint, recorded, agreed: end => isHashAgreed(node, end, signal) })
  const bounds = options.batch ?? writer.bounds
  const collect = options.collect ?? createCollector()
  const batches = createBatches({ writer, deriver, proof, partitions, clock, bounds, collect }, batch => {
    options.onCommitted?.(batch)
    const { height, lib } = batch.end
    transactions += batch.transactions
    records += batch.records
    const blocks = height - before
    onProgress({ height, target: Math.min(to, lib), lib, blocks, transactions, records, spent: time.spent })
  })
  return { deriver, proof, batches, clock, time, onFetched: options.onFetched, onDerived: options.onDerived }
}

/** The blocks after the stored ones, up to `to`. */
function getNextRange(
  { checkpoint }: Writer,
  { to, lib }: { readonly to: number; readonly lib: number },
  signal: AbortSignal,
) {
  const from = (checkpoint?.height ?? -1) + 1
  // The last irreversible block of a chain that is followed advances by a few, or some dozens.
  return { from, to, lib, signal, following: to - from < 50, parent: checkpoint?.hash }
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
