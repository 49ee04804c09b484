import type { LoadedBlock } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { FormerKey } from '#store/proved.ts'
import type { Deriver } from './deriver.ts'

/** Blocks between two elections of witnesses. */
const ELECTION = 1_200
/** 0: applied for, by anybody. All others were approved by the chain's admin at some time. */
const APPLIED = 0

/** Whose signatures count, by the state that is derived. */
export type Signers = {
  /**
   * Throws Failure 'bad_block' unless the key that signed the last block of a segment is a producer's by the state before
   * the segment: a key that a forged block registers does not count for that block.
   */
  check(segment: readonly LoadedBlock[]): Promise<void>
  /** Notes the keys that the block derived last has replaced. */
  note(height: number): Promise<void>
  /** Keys that are replaced and still in force. */
  former(): readonly FormerKey[]
}

type State = Pick<Deriver, 'read' | 'changedKeys'>

/**
 * `known`: what was kept of replaced keys; undefined for a store of a version that kept none: until witnesses were
 * elected twice since `from`, any key that ever was a producer's counts.
 */
export const signers = (
  state: State,
  { known, from }: { readonly known: readonly FormerKey[] | undefined; readonly from: number },
): Signers => {
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
    check: async segment => {
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
    note: async height => {
      for (const [key, until] of former) if (until < height) former.delete(key)
      for (const { key, before } of await state.changedKeys()) {
        if (mayProduce(before, key) && !(await counts(key, height + 1)))
          former.set(key, (Math.floor(height / ELECTION) + 2) * ELECTION)
      }
    },
    former: () => [...former].map(([key, until]) => ({ key, until })),
  }
}

const mayProduce = (producer: ProducerDoc | undefined, key: string): boolean =>
  producer?.registered === true && producer.status !== APPLIED && producer.pubkey === key
