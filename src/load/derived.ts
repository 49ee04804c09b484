import type { BlockDocuments } from '#derive/derive-block.ts'
import type { Deriver } from './deriver.ts'
import type { Proving } from './proving.ts'
import type { Run } from './run.ts'

type Parts = {
  readonly deriver: Pick<Deriver, 'prefetch' | 'begin' | 'derive'>
  readonly proof: Pick<Proving, 'accepts' | 'derived'>
  readonly signal: AbortSignal
}

/**
 * Documents of runs of blocks, block by block, each derived over the state that the block before it left. Ends before a
 * segment whose signature does not count (`proof.refusal`), and before the next run when `signal` aborts. Throws what
 * derivation throws: such a block leaves no documents.
 */
export async function* derived(
  runs: AsyncIterable<Run>,
  { deriver, proof, signal }: Parts,
): AsyncGenerator<BlockDocuments, void, void> {
  for await (const run of oneAhead(runs, deriver)) {
    if (signal.aborted) return
    await deriver.begin(run)
    for (const loaded of run) {
      if (!(await proof.accepts(loaded))) return
      const documents = await deriver.derive(loaded)
      await proof.derived(loaded)
      yield documents
    }
  }
}

/** The same runs; while one is derived, what the next one needs is fetched. */
async function* oneAhead(
  runs: AsyncIterable<Run>,
  deriver: Pick<Deriver, 'prefetch'>,
): AsyncGenerator<Run, void, void> {
  let ready: Run | undefined
  for await (const run of runs) {
    if (ready !== undefined) {
      deriver.prefetch(run)
      yield ready
    }
    ready = run
  }
  if (ready !== undefined) yield ready
}
