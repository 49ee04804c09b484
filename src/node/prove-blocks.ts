import type { Block, Proof, ProofLevel, TxReceipt } from '#chain/block.ts'
import { checkBlock, checkWhole, isWholeByItself, lossyReceipts, OWN_HASH, restoredReceipt } from '#chain/check.ts'
import { decodeBlockAnswer, decodeRawBlock, decodeReceipts, type RawBlock } from '#chain/decode.ts'
import { changesProducers, namesKeySilently } from '#chain/effects.ts'
import { decodeOrigInfo, decodeRawHeads, headHash, type RawHead } from '#chain/head.ts'
import { mayHaveLost } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import { bad, type HeightRange, type Provers, requireHeads, requireSigned, SIGNED_HELP } from './bulk.ts'
import { BLOCK_SIZE, type CallContext, callNode, NO_SUCH_CALL, RANGE_SIZE, RefusedCall } from './call.ts'

/** Events of fetching blocks that an operator should know about. */
export type BlockEvent =
  /** Receipts that had lost bytes in the node's JSON were proved by the raw block. */
  | { readonly type: 'lost_bytes'; readonly height: number; readonly receipts: number }
  /** Texts of transactions near the head are not proved: the node has no raw block. Reported once. */
  | { readonly type: 'no_raw'; readonly height: number; readonly reason: string }
  /** A proving thread has died; the other threads, or the main thread, do its work. */
  | { readonly type: 'thread_died'; readonly reason: string }

/** The settings and dependencies for fetching blocks. */
export type FetchContext = {
  readonly context: CallContext
  readonly size: RangeSize
  /** Level to which blocks must be proved. */
  readonly prove: ProofLevel
  /** Whether blocks are proved to `whole` beyond that level if the node returns raw blocks. */
  readonly isWholePreferred: boolean
  readonly onEvent: (event: BlockEvent) => void
  /** Absent: this thread proves the answers of bulk calls. */
  readonly provers?: Provers
}

/** The number of blocks per request, computed from the sizes of earlier answers. */
type RangeSize = {
  next(): number
  /** Records the length in characters of the answer for a range of `blocks` blocks. */
  note(blocks: number, letters: number): void
  /** Records that the answer for a range of `blocks` blocks was over the limit. */
  noteTooLarge(blocks: number): void
  /** Records that the node has no bulk calls: blocks are fetched singly from now on. */
  disableBulk(): void
  bulk(): boolean
}

/** Aims at answers of about `targetBytes`. Ranges shrink at once, and at most double per answer. */
export function createRangeSize(targetBytes: number): RangeSize {
  // While no answer's size is known.
  let size = 5
  let bulk = true
  return {
    next: () => size,
    note: (blocks, letters) => {
      const fitting = Math.floor((targetBytes * blocks) / Math.max(1, letters))
      // The ends of a range of getBlockTxsByContract may be 100 apart (go-iost rpc).
      size = Math.max(1, Math.min(101, fitting, size * 2))
    },
    noteTooLarge: blocks => {
      size = Math.max(1, Math.min(size, Math.floor(blocks / 2)))
    },
    disableBulk: () => {
      bulk = false
    },
    bulk: () => bulk,
  }
}

/**
 * Fetches raw heads `from` … `to`. Unless the level is `linked`, the last one must carry a valid signature. It proves
 * all of them once each is verified as the child of the one before. Throws Failure 'bad_block', `RefusedCall`,
 * `ResponseTooLarge`.
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

/** Fetches the signed head of one block. Throws like `fetchHeads`, and 'bad_block' when the node refuses. */
async function fetchSignedHead(fetching: FetchContext, height: number): Promise<RawHead> {
  try {
    const [head] = await fetchHeads(fetching, { from: height, to: height })
    if (head === undefined) throw new Failure('defect', `The node did not return the head of block ${height}.`)
    return head
  } catch (error) {
    if (!(error instanceof RefusedCall)) throw error
    const head = error.code === NO_SUCH_CALL ? await fetchHeadFromRawBlock(fetching, height) : undefined
    if (head !== undefined) return head
    throw new Failure(
      'bad_block',
      `Block ${height}: its signature is not available, and only --prove linked accepts it without: ${error.message}`,
      { cause: error, details: { height }, help: SIGNED_HELP },
    )
  }
}

/** The signed head from the raw block, for nodes without a call for heads; undefined: no raw block either. */
async function fetchHeadFromRawBlock(fetching: FetchContext, height: number): Promise<RawHead | undefined> {
  try {
    const range = { from: height, to: height }
    return (await fetchRaw(fetching, height, raw => requireHeads([raw.head], range, fetching.prove))).head
  } catch (error) {
    if (error instanceof RefusedCall) return undefined
    throw error
  }
}

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
        decode: text => checkAnswer(text, height, { parent, head }),
      })
      const info = head?.info
      const lost = checked.lossy ? await proveLost(fetching, checked.block, { parent, info }) : 0
      return { block: withOrigInfo(checked.block, head), ...(head && { head }), ...(lost > 0 && { lost }) }
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

/**
 * Parses the block in an answer and checks everything except receipts that have lost bytes. `lossy`: there are some, which
 * the raw block must prove.
 */
function checkAnswer(
  text: string,
  height: number,
  { parent, head }: { readonly parent: string | undefined; readonly head: RawHead | undefined },
): { readonly block: Block; readonly lossy: boolean } {
  const { status, block } = decodeBlockAnswer(text)
  if (status !== 'IRREVERSIBLE') throw new Failure('unavailable', `Block ${height} is not irreversible at the node.`)
  if (head !== undefined && block.height === height && block.hash !== headHash(head))
    throw bad(height, `hash is ${block.hash}, its head has ${headHash(head)}`)
  const known = head && { info: head.info }
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
const fetchRaw = ({ context }: FetchContext, height: number, check: (raw: RawBlock) => void): Promise<RawBlock> =>
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
function findSimpleProof(fetching: FetchContext, { block, lost }: FetchedBlock, last: boolean): Proven | undefined {
  const also = lost === undefined ? {} : { lost }
  if (fetching.prove === 'linked') return { block, proof: { level: 'linked', ...also } }
  if (block.height === 0 || last || changesProducers(block)) return undefined
  const level = findLevel(fetching, block)
  return level && { block, proof: { level, ...also } }
}

type TextLevel = 'whole' | 'signed'

/** The level that a signed block reaches; undefined: its raw form must show. */
function findLevel({ prove, isWholePreferred }: FetchContext, block: Block): TextLevel | undefined {
  // Genesis has no signatures; its hash identifies the chain.
  if (block.height === 0) return 'signed'
  const wanted = prove === 'whole' || isWholePreferred
  if (isWholeByItself(block)) return wanted ? 'whole' : 'signed'
  return wanted || namesKeySilently(block) ? undefined : 'signed'
}

async function proveBlock(fetching: FetchContext, { block, head, lost }: FetchedBlock, last: boolean): Promise<Proven> {
  const also = lost === undefined ? {} : { lost }
  const signedBy = last || changesProducers(block) ? await findSigner(fetching, block, head) : undefined
  if (last && signedBy === undefined) return { block, proof: { level: 'linked', ...also } }
  const level = findLevel(fetching, block) ?? (await proveText(fetching, block))
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
    throw bad(block.height, `hash is ${block.hash}, its signed head has ${headHash(head)}`)
  return head.witness
}

/**
 * The level that a block reaches by its raw form. A block in which only an action gives a producer a key is always proved
 * whole, because the text of that action decides whose signatures count.
 */
async function proveText(fetching: FetchContext, block: Block): Promise<TextLevel> {
  const { prove, isWholePreferred, onEvent } = fetching
  try {
    await fetchRaw(fetching, block.height, raw => checkWhole(block, raw))
    return prove === 'whole' || isWholePreferred ? 'whole' : 'signed'
  } catch (error) {
    if (!(error instanceof RefusedCall)) throw error
    if (prove !== 'whole' && !namesKeySilently(block)) {
      onEvent({ type: 'no_raw', height: block.height, reason: error.reason })
      return 'signed'
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
