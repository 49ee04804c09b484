import type { Block, LoadedBlock } from '#chain/block.ts'
import { isWholeByItself } from '#chain/check.ts'
import { changesProducers, namesKeySilently } from '#chain/effects.ts'
import { headHash, type RawHead } from '#chain/head.ts'
import type { Proof } from '#chain/proof.ts'
import { Failure } from '#failure/failure.ts'
import { Refused } from './call.ts'
import { fetchSignedHead, requireSigned } from './fetch-heads.ts'
import type { Found } from './fetch-single.ts'
import { proveWhole } from './fetch-single.ts'
import { type Fetching, SIGNED_HELP } from './fetching.ts'

/** A block and how far it was proved. */
export type Proven = Omit<LoadedBlock, 'systemCode'>

/** Blocks whose raw form is asked for at the same time. */
const AT_ONCE = 4

/**
 * Proves a run of linked blocks as far as is asked. A signature is checked of the last one, which covers all before it,
 * and of every block that changes who produces: so whose keys count can be judged, block by block, from proved state.
 * Throws Failure 'bad_block'.
 */
export const proveBlocks = async (
  fetching: Fetching,
  found: readonly Found[],
): Promise<readonly Proven[]> => {
  const proven: Proven[] = []
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE)
    proven.push(
      ...(await Promise.all(
        some.map((each, offset) => proveOne(fetching, each, at + offset === found.length - 1)),
      )),
    )
  }
  return proven
}

const proveOne = async (fetching: Fetching, found: Found, last: boolean): Promise<Proven> => {
  const { block, notes } = found
  return { block, proof: await proofOf(fetching, found, last), ...(notes === undefined ? {} : { notes }) }
}

const proofOf = async (fetching: Fetching, { block, head, lost }: Found, last: boolean): Promise<Proof> => {
  const also = lost === undefined ? {} : { lost }
  if (fetching.prove === 'linked') return { level: 'linked', ...also }
  const signedBy = last || changesProducers(block) ? await signerOf(fetching, block, head) : undefined
  if (last && signedBy === undefined) return { level: 'linked', ...also }
  const level = (await isWhole(fetching, block)) ? 'whole' : 'signed'
  return { level, ...(signedBy === undefined ? {} : { signedBy }), ...also }
}

/** Whose signature a block's head carries; undefined for genesis. */
const signerOf = async (
  fetching: Fetching,
  block: Block,
  known: RawHead | undefined,
): Promise<string | undefined> => {
  if (block.height === 0) return undefined
  if (known !== undefined) {
    try {
      return requireSigned(known)
    } catch {
      // The range's last signature proved the head; another node may return its own signature.
    }
  }
  const head = await fetchSignedHead(fetching, block.height)
  if (headHash(head) !== block.hash)
    throw new Failure(
      'bad_block',
      `Block ${block.height}: hash is ${block.hash}, its signed head has ${headHash(head)}.`,
      { details: { height: block.height } },
    )
  return head.witness
}

/**
 * Whether the level `whole` was wanted and reached. A block in which only an action gives a producer a key is always
 * proved whole: that text decides whose signatures count.
 */
const isWhole = async (fetching: Fetching, block: Block): Promise<boolean> => {
  // Genesis has no signatures; its hash names the chain.
  if (block.height === 0) return false
  const { prove, wholeIfGiven } = fetching
  const wanted = prove === 'whole' || wholeIfGiven
  if (isWholeByItself(block)) return wanted
  const must = prove === 'whole' || namesKeySilently(block)
  if (!must && !wanted) return false
  try {
    await proveWhole(fetching, block)
    return wanted
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (!must) {
      fetching.tell({ type: 'no_raw', height: block.height, reason: error.reason })
      return false
    }
    throw new Failure(
      'bad_block',
      `Block ${block.height}: the text of its transactions cannot be proved: ${error.message}`,
      {
        cause: error,
        details: { height: block.height },
        help:
          prove === 'whole'
            ? 'Use a node that returns raw blocks, or --prove signed, which does not need them.'
            : `Its actions change the key of a producer. ${SIGNED_HELP}`,
      },
    )
  }
}
