import type { Block, TxReceipt } from '#chain/block.ts'
import { checkBlock, lossyReceipts, OWN_HASH, restoredReceipt } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { headHash, origInfoOf, type RawHead } from '#chain/head.ts'
import { decodeRawBlock, type RawBlock, receiptsAt } from '#chain/raw-block.ts'
import { mayHaveLost } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import { ask, Refused } from './call.ts'
import { fetchHeads, fetchSignedHead } from './fetch-heads.ts'
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
  let head = known ?? (fetching.prove === 'linked' ? undefined : await fetchSignedHead(fetching, height))
  for (let isAgain = false; ; isAgain = true)
    try {
      const checked = await ask(fetching.asking, {
        what: `block ${height}`,
        path: `/getBlockByNumber/${height}/true`,
        decode: checkedBlock(height, { parent, head }),
      })
      const info = head?.info
      const lost = checked.lossy ? await proveLost(fetching, checked.block, { parent, info }) : 0
      return {
        block: withOrigInfo(checked.block, head),
        ...(head === undefined ? {} : { head }),
        ...(lost === 0 ? {} : { lost }),
      }
    } catch (error) {
      if (isAgain) throw error
      head = await rawHeadAfter(error, fetching, { height, head })
    }
}

/** The raw head of a block whose hash is not its head's: `info` may be of a form that nodes do not show. Else throws. */
const rawHeadAfter = async (
  error: unknown,
  fetching: Fetching,
  { height, head }: { readonly height: number; readonly head: RawHead | undefined },
): Promise<RawHead> => {
  if (error instanceof Refused)
    throw new Failure('bad_block', `Block ${height}: ${error.message}`, { cause: error, details: { height } })
  if (head !== undefined || !(error instanceof Failure) || error.details['rule'] !== OWN_HASH) throw error
  const [raw] = await fetchHeads(fetching, { from: height, to: height }).catch(() => [])
  if (raw === undefined) throw error
  return raw
}

const withOrigInfo = (block: Block, head: RawHead | undefined): Block => {
  const origInfo = block.origInfo === '' && head !== undefined ? origInfoOf(head.info) : block.origInfo
  return block.info === '{}' && origInfo !== block.origInfo ? { ...block, origInfo } : block
}

type On = { readonly parent: string | undefined; readonly head: RawHead | undefined }

type Checked = {
  readonly block: Block
  /** Some receipts lost bytes, which its raw form must prove. */
  readonly lossy: boolean
}

/** Reads the block of an answer, and checks all but receipts that lost bytes. */
const checkedBlock =
  (height: number, { parent, head }: On) =>
  (text: string): Checked => {
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

/** A block's raw form, which must pass `check`: it throws Failure 'bad_block'. Throws that, and `Refused`. */
export const fetchRaw = (
  { asking }: Fetching,
  height: number,
  check: (raw: RawBlock) => void,
): Promise<RawBlock> =>
  ask(asking, {
    what: `raw block ${height}`,
    path: `/getRawBlockByNumber/${height}/true`,
    bytes: true,
    decode: text => {
      const raw = decodeRawBlock(text)
      check(raw)
      return raw
    },
  })

/**
 * Checks a block some of whose receipts lost bytes in the node's JSON, with just those taken from its raw form; how many
 * they are. Throws Failure 'bad_block', `Refused`.
 */
const proveLost = async (
  fetching: Fetching,
  block: Block,
  known: { readonly parent: string | undefined; readonly info: Uint8Array | undefined },
): Promise<number> => {
  const lossy = lossyReceipts(block)
  let restored: TxReceipt | undefined
  let tried = false
  const check = (raw: RawBlock): void => {
    const receipts = new Map(receiptsAt(raw, lossy))
    const [only] = lossy
    // For nodes whose raw form lost the bytes too: a character that was cut can be found by the root.
    const again = only !== undefined && lossy.length === 1 ? receipts.get(only) : undefined
    if (only !== undefined && again !== undefined && mayHaveLost(again)) {
      if (!tried) restored = restoredReceipt(block, only)
      tried = true
      if (restored !== undefined) receipts.set(only, restored)
    }
    const { info, parent } = known
    checkBlock(block, { parentHash: parent }, { receipts, ...(info === undefined ? {} : { info }) })
  }
  await fetchRaw(fetching, block.height, check)
  fetching.tell({ type: 'lost_bytes', height: block.height, receipts: lossy.length })
  return lossy.length
}
