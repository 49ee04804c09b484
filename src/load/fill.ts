import type { LoadedBlock } from '#chain/block.ts'
import { type Clock, yieldEventLoop } from '#time/clock.ts'
import type { Batches } from './batches.ts'
import type { Deriver } from './deriver.ts'
import { type ProofSegment, type Proving, readSegments } from './proving.ts'

/** The stages that blocks pass on their way to a store, in one session (`session.ts`). */
export type Stages = {
  readonly deriver: Pick<Deriver, 'derive'>
  readonly proof: Pick<Proving, 'accepts' | 'refusal' | 'derived'>
  readonly batches: Pick<Batches, 'add' | 'end'>
  readonly clock: Pick<Clock, 'elapsed'>
  readonly time: StageTimer
  /** Called with the derivation time of a block, in milliseconds. */
  readonly onDerived?: ((ms: number) => void) | undefined
}

type FillOptions = {
  /** Height of the node's last irreversible block. */
  readonly lib: number
  readonly signal: AbortSignal
}

/**
 * Loads the blocks after the checkpoint: each is fetched, proved, derived, added to a batch and committed
 * with it. A failure of the blocks, a signature that does not count, or an abort of `signal` (after the
 * current segment) ends the load. The blocks derived before are committed; then a failure is thrown, but not
 * after an abort. A block that cannot be derived throws at once.
 */
export async function fill(
  stages: Stages,
  source: AsyncIterable<LoadedBlock>,
  { lib, signal }: FillOptions,
): Promise<void> {
  const { proof, batches, clock, time } = stages
  const { elapsed } = clock
  let last = elapsed()
  const turns = {
    give: async () => {
      if (elapsed() - last < TURN_MS) return
      await yieldEventLoop()
      last = elapsed()
    },
  }
  const segments = readSegments(source)
  try {
    while (!signal.aborted) {
      time.on('node')
      const segment = await segments.next()
      time.on('deriving')
      if (segment === undefined || !(await proof.accepts(segment))) break
      await store(segment, { ...stages, turns }, lib)
    }
    time.on('store')
    await batches.end(lib)
  } finally {
    await segments.close()
    time.on(undefined)
  }
  const failed = proof.refusal ?? segments.failure
  if (failed !== undefined && !signal.aborted) throw failed.error
}

/** Time in milliseconds after which a load yields the event loop. */
const TURN_MS = 5

/**
 * Yields the event loop from time to time: to requests, to the answers of nodes, and to messages for the
 * threads that prove and write. Those threads would be idle while a long run is derived.
 */
type EventLoopYield = { give(): Promise<void> }

/** Derives the blocks of an accepted segment in order, and adds each to the batch. */
async function store(
  segment: ProofSegment,
  { deriver, proof, batches, clock, time, onDerived, turns }: Stages & { readonly turns: EventLoopYield },
  lib: number,
): Promise<void> {
  for (const loaded of segment) {
    const since = clock.elapsed()
    const documents = await deriver.derive(loaded)
    onDerived?.(clock.elapsed() - since)
    await proof.derived(loaded)
    time.on('store')
    await batches.add(documents, lib)
    time.on('deriving')
    await turns.give()
  }
}

/** Milliseconds that a load has spent: waiting for proved blocks, waiting for the store, and on the rest. */
export type StageTimes = { readonly node: number; readonly deriving: number; readonly store: number }

/** Measures the time that a load spends on each activity, one at a time. */
type StageTimer = {
  readonly spent: StageTimes
  /** Sets the current activity; undefined: the load is idle, and its time is not counted. */
  on(what: keyof StageTimes | undefined): void
}

export function stageTimer({ elapsed }: Pick<Clock, 'elapsed'>): StageTimer {
  const spent = { node: 0, deriving: 0, store: 0 }
  let now: keyof StageTimes | undefined
  let since = 0
  const count = (): void => {
    const at = elapsed()
    if (now !== undefined) spent[now] += at - since
    since = at
  }
  return {
    get spent() {
      count()
      return { ...spent }
    },
    on: what => {
      count()
      now = what
    },
  }
}
