import type { Block } from '#chain/block.ts'
import { checkBlock, lossyReceipts, OWN_HASH } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { origInfoOf } from '#chain/head-info.ts'
import { headHash, type RawHead } from '#chain/raw-head.ts'
import { Failure } from '#failure/failure.ts'
import { ask, Refused } from './call.ts'
import { fetchHeads, fetchSignedHead } from './fetch-heads.ts'
import { proveLost } from './fetch-raw.ts'
import type { Fetching } from './fetching.ts'

/** A block that is linked, with what came beside it. */
export type Found = {
  readonly block: Block
  /** Its raw head, when that was asked for. */
  readonly head?: RawHead
  /** Receipts that the raw form had to prove. */
  readonly lost?: number
}

/**
 * One irreversible block by itself: it has the hash of its head and is a child of `parent`, if that is given. Unless
 * `linked` is enough the head is known first, by its signature. Asked at every node before it fails.
 */
export const fetchSingle = async (
  fetching: Fetching,
  height: number,
  { parent, head: known }: { readonly parent?: string | undefined; readonly head?: RawHead | undefined },
): Promise<Found> => {
  const head = known ?? (fetching.prove === 'linked' ? undefined : await fetchSignedHead(fetching, height))
  try {
    return await fetchOn(fetching, height, { parent, head })
  } catch (error) {
    if (error instanceof Refused)
      throw new Failure('bad_block', `Block ${height}: ${error.message}`, {
        cause: error,
        details: { height },
      })
    if (head !== undefined || !(error instanceof Failure) || error.details['rule'] !== OWN_HASH) throw error
    // The bytes of its `info` may be of a form that nodes do not show.
    const [raw] = await fetchHeads(fetching, { from: height, to: height }).catch(() => [])
    if (raw === undefined) throw error
    return await fetchOn(fetching, height, { parent, head: raw })
  }
}

type On = { readonly parent: string | undefined; readonly head: RawHead | undefined }

const fetchOn = async (fetching: Fetching, height: number, on: On): Promise<Found> => {
  const { block, lossy } = await ask(fetching.asking, {
    what: `block ${height}`,
    path: `/getBlockByNumber/${height}/true`,
    decode: text => checkedBlock(text, height, on),
  })
  const { parent, head } = on
  const lost = lossy ? await proveLost(fetching, block, { parent, info: head?.info }) : 0
  const origInfo = block.origInfo === '' && head !== undefined ? origInfoOf(head.info) : block.origInfo
  return {
    block: block.info === '{}' && origInfo !== block.origInfo ? { ...block, origInfo } : block,
    ...(head === undefined ? {} : { head }),
    ...(lost === 0 ? {} : { lost }),
  }
}

/** The block of an answer, checked; `lossy`: but for receipts that lost bytes, which its raw form must prove. */
const checkedBlock = (
  text: string,
  height: number,
  { parent, head }: On,
): { readonly block: Block; readonly lossy: boolean } => {
  const { status, block } = decodeBlockAnswer(text)
  if (status !== 'IRREVERSIBLE')
    throw new Failure('unavailable', `Block ${height} is not irreversible at the node.`)
  if (head !== undefined && block.height === height && block.hash !== headHash(head))
    throw new Failure(
      'bad_block',
      `Block ${height}: hash is ${block.hash}, its head has ${headHash(head)}.`,
      {
        details: { height },
      },
    )
  const known = head === undefined ? {} : { info: head.info }
  try {
    checkBlock(block, { parentHash: parent, height }, known)
    return { block, lossy: false }
  } catch (error) {
    if (lossyReceipts(block).length === 0) throw error
    // Everything else must be right: no work is done for a block that is wrong anyway.
    checkBlock(block, { parentHash: parent, height }, { ...known, receipts: 'later' })
    return { block, lossy: true }
  }
}
