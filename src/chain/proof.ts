/**
 * The proof levels of a block, from weak to strong; each level includes those before it.
 *
 * - `linked`: its head has its hash and names its parent, both Merkle roots are those of its transactions and
 *   receipts, and its base transaction matches its hash.
 * - `signed`: a witness's signature of its head, or of a descendant's, is valid. The level does not show
 *   whether the key belongs to a producer, which follows from the state of the chain.
 * - `whole`: the text of every transaction matches the transaction's hash too.
 */
export const PROOF_LEVELS = ['linked', 'signed', 'whole'] as const
export type ProofLevel = (typeof PROOF_LEVELS)[number]

/** The default proof level of a node's blocks. */
export const USUAL_LEVEL: ProofLevel = 'signed'

/** The proof of one block. */
export type Proof = {
  readonly level: ProofLevel
  /**
   * Public key (base58) whose valid signature covers this very head: the head's witness. A signature covers
   * all ancestors, so not every block has one. The last block of a range from a node's `blocks` always has
   * one, as does every block that changes which keys belong to producers. Absent at `linked` and for genesis,
   * which has no signature.
   */
  readonly signedBy?: string
  /** Number of receipts fetched raw because the node's JSON had lost bytes of them; absent: none. */
  readonly lost?: number
}

/** The proof that follows from a block's own bytes, or from its stored form. */
export const LINKED: Proof = { level: 'linked' }
