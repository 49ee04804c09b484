import type { ProofLevel } from '#chain/proof.ts'
import type { CallContext } from './call.ts'
import type { Provers } from './threads/provers.ts'

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

/** Help text for a node that does not return signatures. */
export const SIGNED_HELP =
  'Use a node that returns signatures. (--prove linked checks only the hashes and needs no signatures.)'

/** Largest range of getBlockTxsByContract, in blocks: its ends may be 100 apart (go-iost rpc). */
const LARGEST = 101
/** First range size in blocks, while no answer's size is known. */
const FIRST = 5

/** The number of blocks per request, computed from the sizes of earlier answers. */
export type RangeSize = {
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
  let size = FIRST
  let bulk = true
  return {
    next: () => size,
    note: (blocks, letters) => {
      const fitting = Math.floor((targetBytes * blocks) / Math.max(1, letters))
      size = Math.max(1, Math.min(LARGEST, fitting, size * 2))
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
