import { base58Bytes } from './base58.ts'
import { hashBytes } from './hash.ts'

/**
 * The forms of names on this chain. Accounts such as `__proto__` or `12345` are real: a name is only ever a
 * Map key. The form of a name does not show that the thing exists.
 */
const ACCOUNT = /^(?:[a-z0-9_]{5,11}|0x[0-9a-f]{40})$/
const ADDRESS = /^0x[0-9a-f]{40}$/i
const SYSTEM_CONTRACT = /^[a-z0-9_]{1,94}\.iost$/
const USER_CONTRACT = /^Contract[1-9A-HJ-NP-Za-km-z]{1,91}$/
/** Prefix of the ids of user contracts. */
const CONTRACT = 'Contract'
const TOKEN = /^[a-z0-9_.]{1,64}$/
const HOLDER = /^[ -,.-?A-~]{0,62}$/
const ACTION = /^[A-Za-z0-9_]{1,32}$/
const PUBLIC_KEY = /^[1-9A-HJ-NP-Za-km-z]{32,46}$/

/** An account name by its form: 5 to 11 of `a-z 0-9 _`, or an Ethereum-style address in lower case. */
export const isAccountName = (text: string): boolean => ACCOUNT.test(text)

/**
 * An address of the form 0x and 40 digits in lower case, as the chain writes it; any other text unchanged. Wallets of
 * other chains mix upper and lower case in it as a checksum.
 */
export function lowerAddress(text: string): string {
  return ADDRESS.test(text) ? text.toLowerCase() : text
}

export const isTokenSymbol = (text: string): boolean => TOKEN.test(text)

/** A contract of the chain itself, `token.iost`. */
export const isSystemContract = (text: string): boolean => SYSTEM_CONTRACT.test(text)

/** `Contract` + base58, or a system contract. The node accepts ids under 100 characters (`checkIDValid`). */
export const isContractId = (text: string): boolean => USER_CONTRACT.test(text) || SYSTEM_CONTRACT.test(text)

/** Name of a contract's action for which a list may be kept. */
export const isActionName = (text: string): boolean => ACTION.test(text)

/** Hash of a block or transaction: base58 of 32 bytes. */
export const isHash = (text: string): boolean => hashBytes(text) !== undefined

/** Id of the contract that the transaction with this hash deploys. */
export const toContractId = (hash: string): string => `${CONTRACT}${hash}`

/** Hash of the transaction in the id of a user contract; undefined: the text is no such id. */
export function parseDeployHash(id: string): string | undefined {
  const hash = id.startsWith(CONTRACT) ? id.slice(CONTRACT.length) : ''
  return isHash(hash) ? hash : undefined
}

/** Base58 of 32 (ed25519) or 33 (secp256k1) bytes. */
export function isPublicKey(text: string): boolean {
  if (!PUBLIC_KEY.test(text)) return false
  const length = base58Bytes(text)?.length
  return length === 32 || length === 33
}

/**
 * Whether token.iost can store a balance of a receiver. Its key is `TB` + name, and a key of a contract's
 * storage has up to 64 printable ASCII characters, none of them `-` or `@` (go-iost `vm/host/db_handler.go`
 * IsValidKey). The chain does not check this for receivers: an issue accepts any text, a transfer any text
 * that begins with `Contract` or ends with `.iost` (`host.go` IsValidAccount). A balance that cannot be
 * stored is lost without an error (`vm/native/token_v1.go` setBalance).
 */
export const canHoldTokens = (name: string): boolean => HOLDER.test(name)

/** Names that can have rows and lists: accounts, contracts, public keys, and `0` (witness of genesis). */
export const isPossibleName = (text: string): boolean =>
  ACCOUNT.test(text) || isContractId(text) || text === '0' || isPublicKey(text)
