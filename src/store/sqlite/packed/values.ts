import { base58Bytes, base58Of32, bytesOf32 } from '#chain/base58.ts'
import { hashBytes, sha3OfPair } from '#chain/hash.ts'
import { blocks } from '#indices/block.ts'
import { transactions } from '#indices/transaction.ts'

/** A document as a record of its fields. */
export type DocFields = Readonly<Record<string, unknown>>

/** Computes a field of a document from the others; undefined: not computable. */
export type Follows = (doc: DocFields) => string | undefined

/** Fields that nearly always follow from others of the same document; nothing is stored for them then. */
const FOLLOWS: ReadonlyMap<string, Follows> = new Map([
  // A producer has several consecutive blocks, and the base transaction names the previous block's producer.
  [`${blocks.name}.witness`, (doc: DocFields) => findBaseText(doc['base'], 'w')],
  [`${blocks.name}.witness_account`, (doc: DocFields) => findBaseText(doc['base'], 't')],
  [`${blocks.name}.tx_merkle_hash`, (doc: DocFields) => rootOfOne(doc['tx_hashes'])],
  [`${transactions.name}.hash`, (doc: DocFields) => hashInBody(doc['body'])],
])

export const findFollows = (index: string, field: string): Follows | undefined => FOLLOWS.get(`${index}.${field}`)

/** A text of the base transaction's difference from the template. */
function findBaseText(base: unknown, name: string): string | undefined {
  if (typeof base !== 'string') return undefined
  // Keys and account names contain no quotation mark or backslash.
  const [, text] = MEMBERS[name]?.exec(base) ?? []
  return text
}
const MEMBERS: Readonly<Record<string, RegExp>> = {
  w: /^\{"c":\d+,"w":"([^"\\]*)"/,
  t: /^\{"c":\d+,"w":"[^"\\]*","g":"\d+",(?:"f":true,)?"t":"([^"\\]*)"/,
}

/** Root of the tree whose only leaf is this hash. */
function rootOfOne(hashes: unknown): string | undefined {
  const leaf = typeof hashes === 'string' ? (bytesOf32(hashes) ?? hashBytes(hashes)) : undefined
  return leaf === undefined ? undefined : base58Of32(sha3OfPair(leaf, leaf))
}

const hashInBody = (body: unknown): string | undefined =>
  typeof body === 'string' ? /^\{"hash":"([^"\\]*)"/.exec(body)?.[1] : undefined

/**
 * Texts that most records consist of, stored by their number: the first two take no space at all. Because the
 * numbers are stored, new words are only ever added at the end.
 */
export const WORDS: readonly string[] = [
  'SUCCESS',
  'token.iost',
  'transfer',
  '[]',
  '[""]',
  'RUNTIME_ERROR',
  'BALANCE_NOT_ENOUGH',
  'TIMEOUT',
  'OUT_OF_GAS',
  'gas.iost',
  'pledge',
  'unpledge',
  'ram.iost',
  'buy',
  'sell',
  'lend',
  'auth.iost',
  'signUp',
  'vote_producer.iost',
  'vote',
  'unvote',
  'voterWithdraw',
  'candidateWithdraw',
  'topupVoterBonus',
  'topupCandidateBonus',
  'issue',
  'destroy',
  'transferFreeze',
  'create',
  'token721.iost',
  'exchange.iost',
  'bonus.iost',
  'exchangeIOST',
  'base.iost',
  'exec',
  'system.iost',
  'receipt',
  'setCode',
  'updateCode',
  'vote.iost',
  'issue.iost',
  'issueIOST',
  'domain.iost',
  'play',
  'stat',
  'true',
  '["true"]',
  'deposit',
  'withdraw',
  'payout',
]

const numbers: ReadonlyMap<string, bigint> = new Map(WORDS.map((word, number) => [word, BigInt(number)]))

/** The number of a word; undefined: the text is not in the list and is stored unchanged. */
export const numberOfWord = (text: string): bigint | undefined => numbers.get(text)

const BYTES = 32
/** Maximum length of 32 bytes in base58. */
const MAX_LETTERS = 44

/** The 32 bytes of a hash or key; undefined: the text is neither, and is stored unchanged. */
export function bytesOfHash(text: string): Uint8Array | undefined {
  const bytes = text.length > MAX_LETTERS ? undefined : base58Bytes(text)
  return bytes?.length === BYTES ? bytes : undefined
}

/** Like `bytesOfHash`, for hashes separated by one space: their bytes, concatenated. */
export function bytesOfHashes(text: string): Uint8Array | undefined {
  const hashes = text.split(' ')
  const bytes = new Uint8Array(hashes.length * BYTES)
  for (const [at, hash] of hashes.entries()) {
    const own = hash.length > MAX_LETTERS ? undefined : base58Bytes(hash)
    if (own?.length !== BYTES) return undefined
    bytes.set(own, at * BYTES)
  }
  return bytes
}

/** The text of `bytesOfHash`; undefined: the bytes are damaged. */
export const hashOfBytes = (bytes: Uint8Array): string | undefined =>
  bytes.length === BYTES ? base58Of32(bytes) : undefined

/** The text of `bytesOfHashes`; undefined: the bytes are damaged. */
export function hashesOfBytes(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0 || bytes.length % BYTES !== 0) return undefined
  let text = base58Of32(bytes.subarray(0, BYTES))
  for (let at = BYTES; at < bytes.length; at += BYTES) text += ` ${base58Of32(bytes.subarray(at, at + BYTES))}`
  return text
}
