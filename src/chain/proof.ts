/**
 * How far a block is proved, from weak to strong; each level includes those before it.
 *
 * - `linked`: its head has its hash and names its parent, both merkle roots are those of its transactions and receipts,
 *   and its base transaction is the one its hash says.
 * - `signed`: a witness's signature of its head, or of a descendant's, is valid. Whether the key is a producer's is not
 *   said here: that follows from the state of the chain.
 * - `whole`: the text of every transaction has the transaction's hash too.
 */
export const PROOF_LEVELS = ['linked', 'signed', 'whole'] as const
export type ProofLevel = (typeof PROOF_LEVELS)[number]

/** How far a node's blocks are proved unless it is said otherwise. */
export const USUAL_LEVEL: ProofLevel = 'signed'

/** What was proved of one block. */
export type Proof = {
  readonly level: ProofLevel
  /**
   * Public key (base58) whose valid signature covers this very head: the head's witness. A signature covers all
   * ancestors, so not every block carries one: the last block that a node's `blocks` gives of a range always does, and
   * every block that changes whose key a producer's is. Absent at `linked` and for genesis, which nobody signs.
   */
  readonly signedBy?: string
  /** Receipts that were fetched raw because the node's JSON had lost bytes of them; absent: none. */
  readonly lost?: number
}

/** What follows from a block's own bytes, or from what is stored of it. */
export const LINKED: Proof = { level: 'linked' }
