import type { Block, TxReceipt } from '#chain/block.ts'
import { checkBlock, lossyReceipts, OWN_HASH, restoredReceipt } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { decodeOrigInfo, headHash, type RawHead } from '#chain/head.ts'
import { decodeRawBlock, decodeReceipts, type RawBlock } from '#chain/raw-block.ts'
import { mayHaveLost } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import { BLOCK_SIZE } from './answer-size.ts'
import { callNode, RefusedCall } from './call.ts'
import { fetchHeads, fetchSignedHead } from './fetch-heads.ts'
import type { FetchContext } from './fetching.ts'

/** A linked block and the data fetched with it. */
export type FetchedBlock = {
  readonly block: Block
  /** Its raw head, if that was fetched. */
  readonly head?: RawHead
  /** Number of receipts that the raw block had to prove. */
  readonly lost?: number
}

/**
 * Fetches one irreversible block: its hash is that of its head, and it is a child of `parent` if that is given. Unless
 * the level is `linked`, the signed head is fetched first. Every node is asked before the call fails.
 */
export async function fetchSingle(
  fetching: FetchContext,
  height: number,
  { parent, head: known }: { readonly parent?: string | undefined; readonly head?: RawHead | undefined },
): Promise<FetchedBlock> {
  let head = known ?? (fetching.prove === 'linked' ? undefined : await fetchSignedHead(fetching, height))
  for (let isAgain = false; ; isAgain = true)
    try {
      const checked = await callNode(fetching.context, {
        what: `block ${height}`,
        path: `/getBlockByNumber/${height}/true`,
        size: BLOCK_SIZE,
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
      head = await refetchRawHead(error, fetching, { height, head })
    }
}

/** Fetches the raw head after a wrong hash, since nodes do not show every form of `info`; else rethrows. */
async function refetchRawHead(
  error: unknown,
  fetching: FetchContext,
  { height, head }: { readonly height: number; readonly head: RawHead | undefined },
): Promise<RawHead> {
  if (error instanceof RefusedCall)
    throw new Failure('bad_block', `Block ${height}: ${error.message}`, { cause: error, details: { height } })
  if (head !== undefined || !(error instanceof Failure) || error.details['rule'] !== OWN_HASH) throw error
  const [raw] = await fetchHeads(fetching, { from: height, to: height }).catch(() => [])
  if (raw === undefined) throw error
  return raw
}

function withOrigInfo(block: Block, head: RawHead | undefined): Block {
  const origInfo = block.origInfo === '' && head !== undefined ? decodeOrigInfo(head.info) : block.origInfo
  return block.info === '{}' && origInfo !== block.origInfo ? { ...block, origInfo } : block
}

type On = { readonly parent: string | undefined; readonly head: RawHead | undefined }

type Checked = {
  readonly block: Block
  /** Some receipts have lost bytes; the raw block must prove them. */
  readonly lossy: boolean
}

/** Parses the block in an answer and checks everything except receipts that have lost bytes. */
const checkedBlock =
  (height: number, { parent, head }: On) =>
  (text: string): Checked => {
    const { status, block } = decodeBlockAnswer(text)
    if (status !== 'IRREVERSIBLE') throw new Failure('unavailable', `Block ${height} is not irreversible at the node.`)
    if (head !== undefined && block.height === height && block.hash !== headHash(head))
      throw new Failure('bad_block', `Block ${height}: hash is ${block.hash}, its head has ${headHash(head)}.`, {
        details: { height },
      })
    const known = head === undefined ? {} : { info: head.info }
    try {
      checkBlock(block, { parentHash: parent, height }, known)
      return { block, lossy: false }
    } catch (error) {
      if (lossyReceipts(block).length === 0) throw error
      // Everything else must be right: a block that is wrong anyway needs no further work.
      checkBlock(block, { parentHash: parent, height }, { ...known, receipts: 'later' })
      return { block, lossy: true }
    }
  }

/** Fetches a raw block; `check` throws Failure 'bad_block' if it is wrong. Throws that, and `RefusedCall`. */
export const fetchRaw = (
  { context }: FetchContext,
  height: number,
  check: (raw: RawBlock) => void,
): Promise<RawBlock> =>
  callNode(context, {
    what: `raw block ${height}`,
    path: `/getRawBlockByNumber/${height}/true`,
    size: BLOCK_SIZE,
    bytes: true,
    decode: text => {
      const raw = decodeRawBlock(text)
      check(raw)
      return raw
    },
  })

/**
 * Checks a block in which receipts have lost bytes in the node's JSON. Only those receipts are taken from the
 * raw block. Returns their number. Throws Failure 'bad_block', `RefusedCall`.
 */
async function proveLost(
  fetching: FetchContext,
  block: Block,
  known: { readonly parent: string | undefined; readonly info: Uint8Array | undefined },
): Promise<number> {
  const lossy = lossyReceipts(block)
  let restored: TxReceipt | undefined
  let tried = false
  const check = (raw: RawBlock): void => {
    const receipts = new Map(decodeReceipts(raw, lossy))
    const [only] = lossy
    // The raw form of some nodes has lost the bytes too; the Merkle root can then identify one cut character.
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
  fetching.onEvent({ type: 'lost_bytes', height: block.height, receipts: lossy.length })
  return lossy.length
}
