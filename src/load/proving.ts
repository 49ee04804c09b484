import type { LoadedBlock } from '#chain/block.ts'
import type { Proof } from '#chain/proof.ts'
import { Failure } from '#failure/failure.ts'
import type { Published } from '#store/port.ts'
import { NOTHING_PROVED, type Proved, provedAt, provedBelow, provedWith } from '#store/proved.ts'
import type { Deriver } from './deriver.ts'
import { signers } from './signers.ts'
import type { Failed } from './until-failure.ts'

/** The record up to a batch's end, once the nodes were asked about that block; undefined: none is kept. */
export type Prove = (end: Published) => Promise<Proved | undefined>

/** Judges signatures by the state that is derived, and keeps the record of what was proved. */
export type Proving = {
  /** A segment (`segments.ts`) is going to be derived. */
  expect(segment: readonly LoadedBlock[]): void
  /** Before a block is derived: false when its segment is signed with a key that does not count, see `refusal`. */
  accepts(loaded: LoadedBlock): Promise<boolean>
  /** Why a segment was not accepted. */
  readonly refusal: Failed | undefined
  /** After a block was derived. */
  derived(loaded: LoadedBlock): Promise<void>
  /** Ends a batch. */
  cut(): Prove
}

export type ProvingOptions = {
  /** Where the store ends. */
  readonly checkpoint: Published | undefined
  /**
   * The record of the blocks to come, which were proved when they were first loaded and are now derived again from the
   * store.
   */
  readonly recorded: Proved | undefined
  /** Whether two nodes name the hash of a block. */
  readonly agreed: (end: Published) => Promise<boolean>
}

export const proving = (
  state: Pick<Deriver, 'read' | 'changedKeys'>,
  { checkpoint, recorded, agreed }: ProvingOptions,
): Proving => {
  const known = checkpoint === undefined ? [] : checkpoint.proved?.formerKeys
  const keys = signers(state, { known, from: checkpoint?.height ?? 0 })
  const expected = new Map<number, readonly LoadedBlock[]>()
  let refusal: Failed | undefined
  let proved = provedBelow(checkpoint?.proved ?? NOTHING_PROVED, (checkpoint?.height ?? -1) + 1)
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
    accepts: async ({ block: { height } }) => {
      const segment = expected.get(height)
      expected.delete(height)
      if (segment === undefined) return true
      try {
        await keys.check(segment)
        return true
      } catch (error) {
        if (!(error instanceof Failure && error.kind === 'bad_block')) throw error
        refusal = { error }
        return false
      }
    },
    get refusal() {
      return refusal
    },
    derived: async loaded => {
      proofs.push(recordOf(loaded))
      await keys.note(loaded.block.height)
    },
    cut: () => {
      const run = { from, proofs }
      const formerKeys = keys.former()
      from += proofs.length
      proofs = []
      return async end => {
        proved = { ...provedWith(proved, { ...run, agreed: await agreed(end) }), formerKeys }
        return proved
      }
    },
  }
}

/** For blocks whose proof is not judged again: all are accepted, and no record is kept. */
export const PROVED_BEFORE: Proving = {
  expect: () => undefined,
  accepts: async () => true,
  refusal: undefined,
  derived: async () => undefined,
  cut: () => async () => undefined,
}
