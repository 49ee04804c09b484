import type { Block, Proof } from '#chain/block.ts'
import { checkWhole, isWholeByItself } from '#chain/check.ts'
import { changesProducers, namesKeySilently } from '#chain/effects.ts'
import { headHash, type RawHead } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'
import {
  type FetchContext,
  type FetchedBlock,
  fetchRaw,
  fetchSignedHead,
  requireSigned,
  SIGNED_HELP,
} from './block-requests.ts'
import { RefusedCall } from './call.ts'

/** A block and the level to which it was proved. */
export type Proven = { readonly block: Block; readonly proof: Proof }

/** Number of raw blocks fetched at the same time. */
const AT_ONCE = 4

/**
 * Proves a run of linked blocks to the requested level. Signatures are checked for the last block, which
 * covers all before it, and for every block that changes producers: so the accepted signers can be
 * determined, block by block, from proved state. Throws Failure 'bad_block'.
 */
export async function proveBlocks(fetching: FetchContext, found: readonly FetchedBlock[]): Promise<readonly Proven[]> {
  const isLast = (at: number): boolean => at === found.length - 1
  const proven = found.map((each, at) => findSimpleProof(fetching, each, isLast(at)))
  const open = [...proven.keys()].filter(at => proven[at] === undefined)
  for (let done = 0; done < open.length; done += AT_ONCE)
    await Promise.all(
      open.slice(done, done + AT_ONCE).map(async at => {
        const each = found[at]
        if (each !== undefined) proven[at] = await proveBlock(fetching, each, isLast(at))
      }),
    )
  return proven.filter(each => each !== undefined)
}

/** The proof of a block that needs no signature of its own and no further data; undefined: it needs more. */
function findSimpleProof(
  { prove, isWholePreferred }: FetchContext,
  { block, lost }: FetchedBlock,
  last: boolean,
): Proven | undefined {
  const also = lost === undefined ? {} : { lost }
  if (prove === 'linked') return { block, proof: { level: 'linked', ...also } }
  if (block.height === 0 || last || changesProducers(block)) return undefined
  const wanted = prove === 'whole' || isWholePreferred
  if (isWholeByItself(block)) return { block, proof: { level: wanted ? 'whole' : 'signed', ...also } }
  return wanted || namesKeySilently(block) ? undefined : { block, proof: { level: 'signed', ...also } }
}

async function proveBlock(fetching: FetchContext, { block, head, lost }: FetchedBlock, last: boolean): Promise<Proven> {
  const also = lost === undefined ? {} : { lost }
  const signedBy = last || changesProducers(block) ? await findSigner(fetching, block, head) : undefined
  if (last && signedBy === undefined) return { block, proof: { level: 'linked', ...also } }
  const level = (await isWhole(fetching, block)) ? 'whole' : 'signed'
  return { block, proof: { level, ...(signedBy === undefined ? {} : { signedBy }), ...also } }
}

/** The producer whose signature a block's head carries; undefined for genesis. */
async function findSigner(
  fetching: FetchContext,
  block: Block,
  known: RawHead | undefined,
): Promise<string | undefined> {
  if (block.height === 0) return undefined
  if (known !== undefined) {
    try {
      return requireSigned(known)
    } catch {
      // The range's last signature has proved the head; another node may return the head's own signature.
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
 * Whether the level `whole` was requested and reached. A block in which only an action gives a producer a key
 * is always proved whole, because the text of that action decides whose signatures count.
 */
async function isWhole(fetching: FetchContext, block: Block): Promise<boolean> {
  // Genesis has no signatures; its hash identifies the chain.
  if (block.height === 0) return false
  const { prove, isWholePreferred } = fetching
  const wanted = prove === 'whole' || isWholePreferred
  if (isWholeByItself(block)) return wanted
  const must = prove === 'whole' || namesKeySilently(block)
  if (!must && !wanted) return false
  try {
    await fetchRaw(fetching, block.height, raw => checkWhole(block, raw))
    return wanted
  } catch (error) {
    if (!(error instanceof RefusedCall)) throw error
    if (!must) {
      fetching.onEvent({ type: 'no_raw', height: block.height, reason: error.reason })
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
