import type { LoadedBlock } from '#chain/block.ts'
import type { Clock } from '#time/clock.ts'
import type { Batches } from './batches.ts'
import type { Deriver } from './deriver.ts'
import type { Proving } from './proving.ts'
import { readRuns, type Segment } from './runs.ts'
import type { Spending } from './spending.ts'

/** The stages that blocks pass on their way to a store, for one take-over of it. */
export type Stages = {
  readonly deriver: Pick<Deriver, 'prefetch' | 'begin' | 'derive'>
  readonly proof: Pick<Proving, 'accepts' | 'refusal' | 'derived'>
  readonly batches: Pick<Batches, 'add' | 'end'>
  readonly clock: Pick<Clock, 'elapsed'>
  readonly spending: Spending
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
export const fill = (
  stages: Stages,
  source: AsyncIterable<LoadedBlock>,
  options: FillOptions,
): Promise<void> => stages.spending.loading(() => fillFrom(source, stages, options))

const fillFrom = async (
  source: AsyncIterable<LoadedBlock>,
  stages: Stages,
  { lib, signal }: FillOptions,
): Promise<void> => {
  const { deriver, proof, batches, spending } = stages
  const runs = readRuns(source)
  try {
    let run = await spending.waiting('node', runs.next)
    while (run !== undefined && proof.refusal === undefined) {
      const next = await spending.waiting('node', runs.next)
      if (next !== undefined) deriver.prefetch(next)
      if (signal.aborted) break
      const begun = run
      await spending.waiting('store', () => deriver.begin(begun))
      for (const segment of run) {
        if (!(await proof.accepts(segment))) break
        await fillWith(segment, stages, lib)
      }
      run = next
    }
    await spending.waiting('store', () => batches.end(lib))
  } finally {
    await runs.close()
  }
  const failed = proof.refusal ?? runs.failure
  if (failed !== undefined && !signal.aborted) throw failed.error
}

const fillWith = async (
  segment: Segment,
  { deriver, proof, batches, clock, spending, onDerived }: Stages,
  lib: number,
): Promise<void> => {
  for (const loaded of segment) {
    const since = clock.elapsed()
    const documents = await deriver.derive(loaded)
    onDerived?.(clock.elapsed() - since)
    await proof.derived(loaded)
    await spending.waiting('store', () => batches.add(documents, lib))
  }
}
