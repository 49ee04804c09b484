import type { ProofLevel } from '#chain/proof.ts'
import type { Asking } from './call.ts'
import type { RangeSize } from './range-size.ts'
import type { Provers } from './threads/provers.ts'

/** Events of fetching blocks that an operator should know about. */
export type BlockEvent =
  /** Receipts of a block whose bytes the node's JSON had lost were proved by its raw form. */
  | { readonly type: 'lost_bytes'; readonly height: number; readonly receipts: number }
  /** The texts of transactions near the head are not proved: the node does not give this raw block. Told once. */
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
