import type { LoadedBlock } from '#chain/block.ts'
import { type Clock, yieldEventLoop } from '#time/clock.ts'
import type { Batches } from './batches.ts'
import type { Deriver } from './deriver.ts'
import { type Proving, readSegments } from './proving.ts'

/** The stages that blocks pass on their way to a store, in one session (`session.ts`). */
export type Stages = {
  readonly deriver: Pick<Deriver, 'derive'>
  readonly proof: Pick<Proving, 'accepts' | 'refusal' | 'derived'>
  readonly batches: Pick<Batches, 'add' | 'end'>
  readonly clock: Pick<Clock, 'elapsed'>
  readonly time: StageTimer
  /** Called with each wait for proved blocks, in milliseconds. */
  readonly onFetched?: ((ms: number) => void) | undefined
  /** Called with the derivation time of a block, in milliseconds. */
  readonly onDerived?: ((ms: number) => void) | undefined
}

/**
 * Loads the blocks after the checkpoint: each is fetched, proved, derived, added to a batch and committed
 * with it. A failure of the blocks, a signature that does not count, or an abort of `signal` (after the
 * current segment) ends the load. The blocks derived before are committed; then a failure is thrown, but not
 * after an abort. A block that cannot be derived throws at once. `lib`: height of the node's last irreversible block.
 */
export async function fill(
  { deriver, proof, batches, clock, time, onFetched, onDerived }: Stages,
  source: AsyncIterable<LoadedBlock>,
  { lib, signal }: { readonly lib: number; readonly signal: AbortSignal },
): Promise<void> {
  let yielded = clock.elapsed()
  const addBlock = async (loaded: LoadedBlock): Promise<void> => {
    const since = clock.elapsed()
    const documents = await deriver.derive(loaded)
    onDerived?.(clock.elapsed() - since)
    await proof.derived(loaded)
    time.on('store')
    await batches.add(documents, lib)
    time.on('deriving')
    if (clock.elapsed() - yielded < 5) return
    // Every 5 ms the event loop is yielded: to requests, to the answers of nodes, and to messages for the threads that
    // prove and write. Those threads would be idle while a long run is derived.
    await yieldEventLoop()
    yielded = clock.elapsed()
  }
  const segments = readSegments(source)
  try {
    while (!signal.aborted) {
      time.on('node')
      const since = clock.elapsed()
      const segment = await segments.next()
      // A wait that ends in a failure brought nothing.
      if (segments.failure === undefined) onFetched?.(clock.elapsed() - since)
      time.on('deriving')
      if (segment === undefined || !(await proof.accepts(segment))) break
      for (const loaded of segment) await addBlock(loaded)
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
