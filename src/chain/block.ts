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

/**
 * A block of the chain with all its contents, decoded from the node's JSON without loss (`decode.ts`).
 * Heights and counts are numbers; values that may exceed 2^53 are bigint or the node's own text.
 */
export type Block = {
  readonly height: number
  readonly hash: string
  /** `""` for genesis. */
  readonly parentHash: string
  readonly version: string
  readonly txMerkleHash: string
  readonly txReceiptMerkleHash: string
  /** Public key (base58) of the signer; `0` for genesis. */
  readonly witness: string
  /** Nanoseconds since 1970. */
  readonly time: bigint
  readonly txCount: number
  /** The node's `info` as JSON text, `{}` for null. */
  readonly info: string
  readonly origInfo: string
  /** In block order; the first one of blocks ≥ 1 is the base transaction (publisher `base.iost`). */
  readonly transactions: readonly Transaction[]
}

export type Transaction = {
  readonly hash: string
  /** Nanoseconds since 1970; 0 in genesis. */
  readonly time: bigint
  readonly expiration: bigint
  /** Decimal text, as the node prints its double. */
  readonly gasRatio: string
  readonly gasLimit: string
  readonly delay: bigint
  readonly chainId: number
  readonly actions: readonly Action[]
  readonly signers: readonly string[]
  readonly publisher: string
  /** Hash of the delayed transaction that this one executes, else `""`. */
  readonly referredTx: string
  readonly amountLimit: readonly { readonly token: string; readonly value: string }[]
  readonly receipt: TxReceipt
  /** The node's transaction object as compact JSON text. */
  readonly body: string
}

export type Action = {
  readonly contract: string
  readonly actionName: string
  /** The signer's own text: nearly always a JSON array, possibly anything. */
  readonly data: string
}

export type TxReceipt = {
  /** Gas paid × 100. */
  readonly gasUsage: bigint
  /** Payer and bytes, possibly negative, in the node's order. */
  readonly ramUsage: readonly (readonly [payer: string, bytes: bigint])[]
  readonly statusCode: string
  readonly message: string
  /** One per action if the transaction succeeded. */
  readonly returns: readonly string[]
  readonly receipts: readonly Receipt[]
}

export type Receipt = {
  /** `<contract>/<abi>` of the emitting contract; the node prefixes its id, so it can be trusted. */
  readonly funcName: string
  /** JSON text or any text. */
  readonly content: string
}

/** The part of a contract that only the node has: the chain has no ABI of system contracts. */
export type ContractCode = {
  readonly id: string
  readonly language: string
  readonly version: string
  readonly abis: readonly {
    readonly name: string
    readonly args: readonly string[]
    readonly amount_limit: readonly { readonly token: string; readonly value: string }[]
  }[]
}

/** A block with the data that must be fetched with it before it can be derived. */
export type LoadedBlock = {
  readonly block: Block
  /** Contracts added or changed in this block whose ABI is not in the chain (`listUnknownContracts`). */
  readonly systemCode: readonly ContractCode[]
  /** The proof of the block itself; `systemCode` is never proved. */
  readonly proof: Proof
}

/**
 * The fields of a block as stored and answered. Its gas is summed from its transactions: the node's own figure is 0 once
 * a block is irreversible, and differs between nodes before.
 * @param owner the account of the key that signed it; '' or undefined: unknown
 */
export function toBlockFields(block: Block, owner: string | undefined) {
  return {
    height: block.height,
    hash: block.hash,
    version: block.version,
    parent_hash: block.parentHash,
    tx_merkle_hash: block.txMerkleHash,
    tx_receipt_merkle_hash: block.txReceiptMerkleHash,
    witness: block.witness,
    witness_account: owner === undefined || owner === '' ? block.witness : owner,
    time: block.time,
    gas_usage: block.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n),
    tx_count: block.txCount,
    info: block.info,
    orig_info: block.origInfo,
    tx_hashes: block.transactions.map(({ hash }) => hash).join(' '),
  }
}
