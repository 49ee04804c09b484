import type { LoadedBlock } from '#chain/block.ts'
import type { Clock } from '#time/clock.ts'
import type { Batches } from './batches.ts'
import type { Deriver } from './deriver.ts'
import type { Proving } from './proving.ts'
import { readRuns, type Segment } from './runs.ts'

/** The stages that blocks pass on their way to a store, for one take-over of it. */
export type Stages = {
  readonly deriver: Pick<Deriver, 'prefetch' | 'begin' | 'derive'>
  readonly proof: Pick<Proving, 'accepts' | 'refusal' | 'derived'>
  readonly batches: Pick<Batches, 'add' | 'end'>
  readonly clock: Pick<Clock, 'elapsed'>
  /** Called with the milliseconds that the derivation of a block took. */
  readonly onDerived?: ((ms: number) => void) | undefined
}

export type FillOptions = {
  /** The node's last irreversible block. */
  readonly lib: number
  readonly signal: AbortSignal
}

/**
 * Loads blocks that follow the checkpoint: each is fetched, proved, derived, added to a batch and committed with it. When
 * the blocks fail, one of them has a signature that does not count, or `signal` aborts (it ends the run under way), the
 * blocks derived before are committed; then the failure is thrown. A block that cannot be derived throws at once.
 */
export const fill = async (
  stages: Stages,
  source: AsyncIterable<LoadedBlock>,
  { lib, signal }: FillOptions,
): Promise<void> => {
  const { deriver, proof, batches } = stages
  const runs = readRuns(source)
  try {
    let run = await runs.next()
    while (run !== undefined && proof.refusal === undefined) {
      const next = await runs.next()
      if (next !== undefined) deriver.prefetch(next)
      if (signal.aborted) break
      await deriver.begin(run)
      for (const segment of run) {
        if (!(await proof.accepts(segment))) break
        await fillWith(segment, stages, lib)
      }
      run = next
    }
    await batches.end(lib)
  } finally {
    await runs.close()
  }
  const failed = proof.refusal ?? runs.failure
  if (failed !== undefined && !signal.aborted) throw failed.error
}

const fillWith = async (
  segment: Segment,
  { deriver, proof, batches, clock, onDerived }: Stages,
  lib: number,
): Promise<void> => {
  for (const loaded of segment) {
    const since = clock.elapsed()
    const documents = await deriver.derive(loaded)
    onDerived?.(clock.elapsed() - since)
    await proof.derived(loaded)
    await batches.add(documents, lib)
  }
}
