import type { LoadedBlock } from '#chain/block.ts'
import type { Proof } from '#chain/proof.ts'
import type { Published } from '#store/port.ts'
import { NOTHING_PROVED, type Proved, provedAt, provedBelow, provedWith } from '#store/proved.ts'
import type { Deriver } from './deriver.ts'
import { signers } from './signers.ts'

/** What was proved of a batch's blocks; `agreed`: two nodes named the hash of the last one. */
export type ProvedRun = (before: Proved, agreed: boolean) => Proved

/** Judges signatures by the state that is derived, and keeps the record of what was proved. */
export type Proving = {
  /** A segment (`segments.ts`) is going to be derived. */
  expect(segment: readonly LoadedBlock[]): void
  /** Before a block is derived. Throws Failure 'bad_block' when its segment is signed with a key that does not count. */
  before(loaded: LoadedBlock): Promise<void>
  /** After a block was derived. */
  after(loaded: LoadedBlock): Promise<void>
  /** Ends a batch: what its blocks add to the record. */
  cut(): ProvedRun
}

/**
 * `recorded`: what is on record of the blocks to come, which were proved when they were first loaded, and are derived anew
 * from what is stored.
 */
export const proving = (
  state: Pick<Deriver, 'read' | 'changedKeys'>,
  checkpoint: Published | undefined,
  recorded: Proved | undefined,
): Proving => {
  const known = checkpoint === undefined ? [] : checkpoint.proved?.formerKeys
  const keys = signers(state, { known, from: checkpoint?.height ?? 0 })
  const expected = new Map<number, readonly LoadedBlock[]>()
  let from = (checkpoint?.height ?? -1) + 1
  let proofs: Proof[] = []
  const recordOf = ({ block, proof }: LoadedBlock): Proof => {
    const earlier = recorded === undefined ? undefined : provedAt(recorded, block.height)
    return earlier === undefined ? proof : { level: earlier.level }
  }
  return {
    expect: segment => {
      const first = segment[0]
      if (first !== undefined) expected.set(first.block.height, segment)
    },
    before: async ({ block: { height } }) => {
      const segment = expected.get(height)
      expected.delete(height)
      if (segment !== undefined) await keys.check(segment)
    },
    after: async loaded => {
      proofs.push(recordOf(loaded))
      await keys.note(loaded.block.height)
    },
    cut: () => {
      const run = { from, proofs }
      const formerKeys = keys.former()
      from += proofs.length
      proofs = []
      return (before, agreed) => ({ ...provedWith(before, { ...run, agreed }), formerKeys })
    },
  }
}

/** The record a loader goes on with. */
export const provedSoFar = (checkpoint: Published | undefined): Proved =>
  provedBelow(checkpoint?.proved ?? NOTHING_PROVED, (checkpoint?.height ?? -1) + 1)
