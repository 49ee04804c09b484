import { decodeRawHeads, headHashBytes, type RawHead, signatureFault } from '#chain/head.ts'
import type { ProofLevel } from '#chain/proof.ts'
import { decodeRawBlock } from '#chain/raw-block.ts'
import { Failure } from '#failure/failure.ts'
import { BLOCK_SIZE, RANGE_SIZE } from './answer-size.ts'
import type { HeightRange } from './bulk-answers.ts'
import { callNode, NO_SUCH_CALL, RefusedCall } from './call.ts'
import { type FetchContext, SIGNED_HELP } from './fetching.ts'

const bad = (height: number, reason: string, help?: string): Failure =>
  new Failure('bad_block', `Block ${height}: ${reason}.`, {
    details: { height },
    ...(help === undefined ? {} : { help }),
  })

/**
 * Fetches raw heads `from` … `to`. Unless the level is `linked`, the last one must carry a valid signature. It proves
 * all of them once each is verified as the child of the one before. Throws Failure 'bad_block', `RefusedCall`, `ResponseTooLarge`.
 */
export const fetchHeads = (fetching: FetchContext, { from, to }: HeightRange): Promise<readonly RawHead[]> =>
  callNode(fetching.context, {
    ...headsQuestion({ from, to }),
    decode: text => {
      const heads = decodeRawHeads(text)
      requireHeads(heads, { from, to }, fetching.prove)
      return heads
    },
  })

/** The question for the heads of a range. */
export const headsQuestion = ({ from, to }: HeightRange) => ({
  what: from === to ? `head ${from}` : `heads ${from} … ${to}`,
  path: '/getBlockHeaderByRange',
  body: JSON.stringify({ start: from, end: to + 1 }),
  size: RANGE_SIZE,
  splits: to > from,
})

/** Throws Failure 'bad_block' unless the heads fill the range and, above `linked`, the last is signed. */
export function requireHeads(heads: readonly RawHead[], range: HeightRange, prove: ProofLevel): void {
  requireRun(heads, range)
  const last = heads.at(-1)
  if (prove !== 'linked' && last !== undefined) requireSigned(last)
}

function requireRun(heads: readonly RawHead[], { from, to }: HeightRange): void {
  for (const [at, head] of heads.entries())
    if (head.height !== from + at) throw bad(from + at, `the node returned the head of block ${head.height} instead`)
  if (heads.length !== to - from + 1)
    throw bad(
      from + heads.length,
      `the node does not return its head, which only --prove linked can do without`,
      SIGNED_HELP,
    )
}

/**
 * The witness whose valid signature a head carries; undefined for genesis, which is unsigned. Throws Failure
 * 'bad_block'.
 */
export function requireSigned(head: RawHead): string | undefined {
  if (head.height === 0) return undefined
  const fault = signatureFault(headHashBytes(head), head)
  if (fault !== undefined) throw bad(head.height, `${fault}; only --prove linked accepts it without`, SIGNED_HELP)
  return head.witness
}

/** Fetches the signed head of one block. Throws like `fetchHeads`, and 'bad_block' when the node refuses. */
export async function fetchSignedHead(fetching: FetchContext, height: number): Promise<RawHead> {
  try {
    const [head] = await fetchHeads(fetching, { from: height, to: height })
    if (head === undefined) throw new Failure('defect', `The node did not return the head of block ${height}.`)
    return head
  } catch (error) {
    if (!(error instanceof RefusedCall)) throw error
    const head = error.code === NO_SUCH_CALL ? await headOfRawBlock(fetching, height) : undefined
    if (head !== undefined) return head
    throw new Failure(
      'bad_block',
      `Block ${height}: its signature is not available, and only --prove linked accepts it without: ${error.message}`,
      { cause: error, details: { height }, help: SIGNED_HELP },
    )
  }
}

/** The signed head from the raw block, for nodes without a call for heads; undefined: no raw block either. */
async function headOfRawBlock({ context }: FetchContext, height: number): Promise<RawHead | undefined> {
  try {
    return await callNode(context, {
      what: `raw block ${height}`,
      path: `/getRawBlockByNumber/${height}/true`,
      size: BLOCK_SIZE,
      bytes: true,
      decode: text => {
        const { head } = decodeRawBlock(text)
        requireRun([head], { from: height, to: height })
        requireSigned(head)
        return head
      },
    })
  } catch (error) {
    if (error instanceof RefusedCall) return undefined
    throw error
  }
}
