import type { ProofLevel } from '#chain/proof.ts'
import type { Asking } from './call.ts'
import type { Provers } from './threads/provers.ts'

/** Events of fetching blocks that an operator should know about. */
export type BlockEvent =
  /** Receipts of a block whose bytes the node's JSON had lost were proved by its raw form. */
  | { readonly type: 'lost_bytes'; readonly height: number; readonly receipts: number }
  /** The texts of transactions near the head are not proved: the node does not give this raw block. Reported once. */
  | { readonly type: 'no_raw'; readonly height: number; readonly reason: string }
  /** A thread that proves has died; the others, or the main thread, do its work. */
  | { readonly type: 'thread_died'; readonly reason: string }

/** What fetching blocks needs. */
export type Fetching = {
  readonly asking: Asking
  readonly size: RangeSize
  /** How far blocks must be proved. */
  readonly prove: ProofLevel
  /** Whether `whole` is proved beyond that where the node gives raw blocks. */
  readonly wholeIfGiven: boolean
  readonly tell: (event: BlockEvent) => void
  /** Absent: the answers of bulk calls are proved by this thread. */
  readonly provers?: Provers
}

/** What to do about a node that does not return signatures. */
export const SIGNED_HELP =
  'Use a node that returns signatures. (--prove linked checks only the hashes and needs no signatures.)'

/** Largest range of getBlockTxsByContract: its ends may be 100 apart (go-iost rpc). */
const LARGEST = 101
/** Before anything is known of the blocks' sizes. */
const FIRST = 5

/** How many blocks are asked for at once, from the size of the answers before. */
export type RangeSize = {
  next(): number
  /** Notes how many characters the answer for a range of `blocks` blocks had. */
  note(blocks: number, letters: number): void
  /** Notes that the answer for a range of `blocks` blocks was over the limit. */
  tooLarge(blocks: number): void
  /** The node knows no bulk calls: blocks are asked for one by one from now on. */
  noBulk(): void
  bulk(): boolean
}

/** Ranges whose answers have about `targetBytes`: they shrink at once when blocks grow, and grow at most twofold. */
export const createRangeSize = (targetBytes: number): RangeSize => {
  let size = FIRST
  let bulk = true
  return {
    next: () => size,
    note: (blocks, letters) => {
      const fitting = Math.floor((targetBytes * blocks) / Math.max(1, letters))
      size = Math.max(1, Math.min(LARGEST, fitting, size * 2))
    },
    tooLarge: blocks => {
      size = Math.max(1, Math.min(size, Math.floor(blocks / 2)))
    },
    noBulk: () => {
      bulk = false
    },
    bulk: () => bulk,
  }
}
