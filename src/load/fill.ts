import type { LoadedBlock } from '#chain/block.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { Writer } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { batches } from './batches.ts'
import type { Collect } from './collect.ts'
import type { Commits } from './commits.ts'
import { derived } from './derived.ts'
import type { Deriver } from './deriver.ts'
import type { Partitioning } from './partitioning.ts'
import type { Proving } from './proving.ts'
import { runs } from './runs.ts'
import { segments } from './segments.ts'
import { untilFailure } from './until-failure.ts'

/** The stages that blocks pass on their way to a store, for one take-over of it. */
export type Stages = {
  readonly writer: Writer
  readonly deriver: Deriver
  readonly proof: Proving
  readonly partitions: Partitioning
  readonly bounds: BatchBounds
  readonly clock: Pick<Clock, 'elapsed'>
  readonly commits: Commits
  readonly collect: Collect
}

export type FillOptions = {
  /** The node's last irreversible block. */
  readonly lib: number
  readonly signal: AbortSignal
}

/**
 * Loads blocks that follow the checkpoint. When the blocks fail, one of them has a signature that does not count, or
 * `signal` aborts, the blocks derived before are committed; then the failure is thrown.
 */
export const fill = async (
  stages: Stages,
  source: AsyncIterable<LoadedBlock>,
  { lib, signal }: FillOptions,
): Promise<void> => {
  const { proof, commits } = stages
  const blocks = untilFailure(source)
  const documents = derived(runs(segments(blocks), proof), { ...stages, signal })
  const parts = { ...stages, handedOver: commits.handedOver }
  for await (const batch of batches(documents, parts, lib)) await commits.add(batch)
  await commits.settle()
  const failed = proof.refusal ?? blocks.failure
  if (failed !== undefined && !signal.aborted) throw failed.error
}
