/**
 * Upper bounds for a node's answers. The chain's own rules limit the contents of a transaction. The other
 * bounds are far above any value that was seen, so that a lying node can fill neither memory nor store.
 */

/** The range of a 64-bit integer. */
export const MIN_INT64 = -(2n ** 63n)
export const MAX_INT64 = 2n ** 63n - 1n

export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= MIN_INT64 && value <= MAX_INT64
}

/** Maximum number of characters in a text, or of entries in a list, and the reason for it. */
export type Bound = { readonly most: number; readonly rule: string }

/** A larger transaction enters no block (go-iost core/tx), so no text and no list in it is longer. */
export const IN_TRANSACTION: Bound = { most: 65_536, rule: 'a transaction has at most 65,536 bytes' }

/** Genesis is made from files, not sent: its actions contain the code of the chain's own contracts. */
export const IN_GENESIS: Bound = { most: 16_777_216, rule: 'nothing in genesis is longer' }

/**
 * Nodes send no larger block to each other (go-iost `p2p/peer.go` maxDataLength). Nothing else limits the receipts of a
 * contract: their length costs no gas (`vm/v8vm/blockchain.go` goReceipt counts the CPU alone).
 */
export const OF_EXECUTION: Bound = { most: 10_000_000, rule: 'a block has at most 10,000,000 bytes' }

/** A receipt has more than ten bytes, most of them the name of its function. */
export const RECEIPTS: Bound = { most: 1_000_000, rule: 'a block has at most 10,000,000 bytes' }

/** 32 bytes as base58 have at most 44 characters. */
export const HASH: Bound = { most: 44, rule: '32 bytes in base58 have at most 44 characters' }

/** ed25519 keys have 32 bytes, secp256k1 keys 33; genesis has `0`. */
export const PUBLIC_KEY: Bound = { most: 46, rule: 'a public key of 33 bytes has at most 46 characters in base58' }

/** 65 bytes of secp256k1 as base64 have 88 characters. */
export const SIGNATURE: Bound = { most: 88, rule: 'no signature has more than 65 bytes' }

/** `-9223372036854775808` */
export const INT64: Bound = { most: 20, rule: '64 bits have at most 20 characters' }

/** Names of a status; the longest one in the chain has 18 characters. */
export const WORD: Bound = { most: 64, rule: 'no status has a longer name' }

/** `info` lists each transaction of a block at most once (go-iost before 2020), some six characters each. */
export const INFO: Bound = { most: 262_144, rule: 'no list of the transactions of a block is longer' }

/** Rows and values of a contract's storage; a value is one JSON text of a contract. */
export const STORED: Bound = { most: 4_194_304, rule: 'no value of a contract is longer' }

/** Maximum cost of a transaction or a block as a number: the gas of a block is 8,000,000. */
export const MAX_GAS = 1e12

/**
 * Maximum depth of brackets in an answer. Nodes nest at most ten deep; texts of users are in strings, where
 * any depth is legal.
 */
export const DEPTH: Bound = { most: 32, rule: 'no answer of a node is nested deeper' }

/**
 * Texts, opening brackets and commas of an answer (`measureJson`). The smallest receipt has seven, and a node's answers
 * have at most 4 MiB before they become JSON.
 */
export const PARTS: Bound = { most: 2_000_000, rule: 'no answer of a node has more texts, brackets and commas' }
