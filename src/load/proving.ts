import type { LoadedBlock, Proof } from '#chain/block.ts'
import { catchKinds, Failure } from '#failure/failure.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { BlockSource } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import {
  type FormerKey,
  findProof,
  NOTHING_PROVED,
  type ProofRecord,
  trimProofs,
  withProofs,
} from '#store/published.ts'
import type { Deriver } from './deriver.ts'

/**
 * Blocks that one signature proves, that of the last block: it covers all blocks before it, and none of these changes
 * the accepted signing keys (such a block has a signature of its own). So the state before a segment is enough to prove
 * all of it. Blocks that need no signature, and genesis, which has none, are segments of their own.
 */
export type ProofSegment = readonly LoadedBlock[]

/** A thrown value of any type. */
export type Failed = { readonly error: unknown }

/**
 * Cuts a stream of blocks into segments. Unsigned blocks at the end of the stream, or before a failure, are in no segment.
 */
export function readSegments(source: AsyncIterable<LoadedBlock>) {
  const blocks = source[Symbol.asyncIterator]()
  let failure: Failed | undefined
  return {
    /** undefined: there is no further segment. */
    next: async (): Promise<ProofSegment | undefined> => {
      const segment: LoadedBlock[] = []
      try {
        for (;;) {
          const { done, value: loaded } = await blocks.next()
          if (done === true) return undefined
          segment.push(loaded)
          const { block, proof } = loaded
          if (proof.signedBy !== undefined || proof.level === 'linked' || block.height === 0) return segment
        }
      } catch (error) {
        failure = { error }
        return undefined
      }
    },
    /** The reason why the stream ended early; undefined: it did not. */
    get failure(): Failed | undefined {
      return failure
    },
    /** Cancels the requests for blocks. */
    close: async (): Promise<void> => void (await blocks.return?.()),
  }
}

/** Checks signatures against the derived state, and keeps the record of proofs. */
export type Proving = {
  /** Called before a segment is derived. false: its signing key does not count, see `refusal`. */
  accepts(segment: ProofSegment): Promise<boolean>
  /** The reason why a segment was not accepted. */
  readonly refusal: Failed | undefined
  /** Called after a block was derived. */
  derived(loaded: LoadedBlock): Promise<void>
  /**
   * Ends a batch at once. Returns the record up to the batch's last block, after the nodes were asked about
   * that block; undefined: no record is kept.
   */
  cut(end: Published): Promise<ProofRecord | undefined>
}

/**
 * `checkpoint`: the end of the store. `recorded`: the record of the blocks to come, which were proved at their first load
 * and are now derived again from the store. `agreed`: whether two nodes report the hash of a block.
 */
export function createProving(
  state: State,
  {
    checkpoint,
    recorded,
    agreed,
  }: {
    readonly checkpoint: Published | undefined
    readonly recorded: ProofRecord | undefined
    readonly agreed: (end: Published) => Promise<boolean>
  },
): Proving {
  const known = checkpoint === undefined ? [] : checkpoint.proved?.formerKeys
  const keys = createSigners(state, { known, from: checkpoint?.height ?? 0 })
  let refusal: Failed | undefined
  let proved = trimProofs(checkpoint?.proved ?? NOTHING_PROVED, (checkpoint?.height ?? -1) + 1)
  let from = (checkpoint?.height ?? -1) + 1
  let proofs: Proof[] = []
  const recordOf = ({ block, proof }: LoadedBlock): Proof => {
    const earlier = recorded === undefined ? undefined : findProof(recorded, block.height)
    return earlier === undefined ? proof : { level: earlier.level }
  }
  return {
    accepts: async segment => {
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
    cut: async end => {
      const run = { from, proofs }
      const formerKeys = keys.former()
      from += proofs.length
      proofs = []
      proved = { ...withProofs(proved, { ...run, agreed: await agreed(end) }), formerKeys }
      return proved
    },
  }
}

/** For blocks whose proof is not checked again: all are accepted, and no record is kept. */
export const PROVED_BEFORE: Proving = {
  accepts: async () => true,
  refusal: undefined,
  derived: async () => undefined,
  cut: async () => undefined,
}

/** Number of blocks between two elections of witnesses. */
const ELECTION = 1_200

/** The derived state, read at once or with requests. */
type State = {
  readonly read: (
    ...keys: Parameters<Deriver['read']>
  ) => ReturnType<Deriver['read']> | Promise<ReturnType<Deriver['read']>>
  readonly changedKeys: Deriver['changedKeys']
}

/**
 * The accepted signing keys, according to the derived state. `known`: the stored replaced keys; undefined for a store of
 * a version that kept none. In that case any key that ever belonged to a producer counts, until witnesses were elected
 * twice since `from`.
 */
export function createSigners(
  state: State,
  { known, from }: { readonly known: readonly FormerKey[] | undefined; readonly from: number },
) {
  const former = new Map((known ?? []).map(({ key, until }) => [key, until]))
  const anyFormerUntil = known === undefined && from > 0 ? from + 2 * ELECTION : -1
  const counts = async (key: string, height: number): Promise<boolean> => {
    if ((former.get(key) ?? -1) >= height) return true
    const [owner] = await state.read([{ index: producerKeys, id: key }])
    if (owner === undefined || !('account' in owner) || owner.account === undefined) return false
    if (owner.account === '') return height <= anyFormerUntil
    const [producer] = await state.read([{ index: producers, id: owner.account }])
    return mayProduce(producer as ProducerDoc | undefined, key)
  }
  return {
    /**
     * Throws Failure 'bad_block' unless the key that signed the last block of a segment belongs to a producer
     * in the state before the segment: a key that a forged block registers does not count for that block.
     */
    check: async (segment: ProofSegment): Promise<void> => {
      const last = segment.at(-1)
      const key = last?.proof.signedBy
      if (last === undefined || key === undefined) return
      const { height } = last.block
      if (await counts(key, height)) return
      throw new Failure(
        'bad_block',
        `Block ${height}: it is signed with ${key}, which is not the key of any producer as of block ${(segment[0]?.block.height ?? height) - 1}.`,
        {
          help: 'The node forges blocks or follows another chain; use another node. (--prove linked would check only the hashes.)',
          details: { height, key },
        },
      )
    },
    /** Records the keys that the last derived block has replaced. */
    note: async (height: number): Promise<void> => {
      for (const [key, until] of former) if (until < height) former.delete(key)
      for (const { key, before } of state.changedKeys())
        if (mayProduce(before, key) && !(await counts(key, height + 1)))
          former.set(key, (Math.floor(height / ELECTION) + 2) * ELECTION)
    },
    /** Replaced keys that are still in force. */
    former: (): readonly FormerKey[] => [...former].map(([key, until]) => ({ key, until })),
  }
}

/** Status 0: applied for, by any account. All others were approved by the chain's admin at some time. */
const mayProduce = (producer: ProducerDoc | undefined, key: string): boolean =>
  producer?.registered === true && producer.status !== 0 && producer.pubkey === key

/**
 * Whether the nodes agree on a block: at least two report its hash, and none a different one. A node that is
 * out of reach or has not reached the block does not count. Throws Failure 'bad_block' with both nodes and
 * both hashes if they differ; it does not decide which one is right.
 */
export async function isHashAgreed(
  node: Pick<BlockSource, 'name' | 'hashes'>,
  { height, hash }: Pick<Published, 'height' | 'hash'>,
  signal: AbortSignal,
): Promise<boolean> {
  // On a stop, the batch is kept without asking the nodes.
  if (signal.aborted || node.hashes === undefined) return false
  const reports = (await catchKinds(['deadline'], node.hashes(height, signal))) ?? []
  const other = reports.find(each => each.hash !== hash)
  const same = reports.filter(each => each.hash === hash)
  if (other === undefined) return same.length > 1
  throw new Failure(
    'bad_block',
    `The nodes disagree: block ${height} has the hash ${hash} at ${same[0]?.node ?? node.name}, but ${other.hash} at ${other.node}.`,
    {
      help: 'Find out which node is right and set only that one with --node. The block was not stored.',
      details: { height },
    },
  )
}
