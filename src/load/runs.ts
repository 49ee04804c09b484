import type { LoadedBlock } from '#chain/block.ts'
import type { Proving } from './proving.ts'
import type { Run } from './run.ts'

/** Blocks of a run, and characters of their transactions, from which on it is long enough. */
const ENOUGH = { blocks: 200, characters: 1_000_000 }

/** Joins segments (`segments.ts`) to runs, in order, and announces each segment to `proof`. */
export async function* runs(
  segments: AsyncIterable<readonly LoadedBlock[]>,
  proof: Pick<Proving, 'expect'>,
): AsyncGenerator<Run, void, void> {
  let run: LoadedBlock[] = []
  let characters = 0
  for await (const segment of segments) {
    proof.expect(segment)
    run.push(...segment)
    characters += charactersOf(segment)
    if (run.length < ENOUGH.blocks && characters < ENOUGH.characters) continue
    yield run
    run = []
    characters = 0
  }
  if (run.length > 0) yield run
}

/** Characters of a segment's transactions. */
const charactersOf = (segment: readonly LoadedBlock[]): number =>
  segment.reduce((sum, { block }) => block.transactions.reduce((all, { body }) => all + body.length, sum), 0)
