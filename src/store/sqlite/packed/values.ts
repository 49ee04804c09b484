import { base58Bytes, base58Of32, bytesOf32 } from '#chain/base58.ts'
import { computePairSha3, hashBytes } from '#chain/hash.ts'
import { blocks } from '#indices/block.ts'
import { transactions } from '#indices/transaction.ts'

/**
 * The characters with a four-bit code. Two runs of zeros, with which amounts often end, also have a code. Any
 * other byte of the text's UTF-8 takes twelve bits: an escape code and the byte itself. The characters are
 * the most frequent in the recorded chain's series, whose texts shrink to 48 %.
 */
const SIGNS = '0123456789,;-'
/** Codes of the two runs of zeros. */
const THREE = SIGNS.length
const SIX = THREE + 1
/** Precedes the two halves of an uncoded byte. An escape in the last half byte is padding. */
const ESCAPE = 15
const ZERO = 0x30

const signs = Buffer.from(SIGNS)
const numbersOfSigns = new Uint8Array(256).fill(ESCAPE)
for (const [number, sign] of signs.entries()) numbersOfSigns[sign] = number

/** The stored form of a text; the text itself unless the stored form is shorter. */
export function packDigits(text: string): Uint8Array | string {
  const bytes = Buffer.from(text)
  const length = bytes.length
  const halves = new Uint8Array(3 * length + 1)
  let size = 0
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] as number
    const zeros = byte === ZERO ? findZeroRun(bytes, at) : 0
    if (zeros > 0) {
      halves[size++] = zeros === 6 ? SIX : THREE
      at += zeros - 1
      continue
    }
    const number = numbersOfSigns[byte] as number
    halves[size++] = number
    if (number !== ESCAPE) continue
    halves[size++] = byte >> 4
    halves[size++] = byte & 15
  }
  if (size % 2 === 1) halves[size++] = ESCAPE
  if (size / 2 >= length) return text
  const packed = new Uint8Array(size / 2)
  for (let at = 0; at < packed.length; at += 1)
    packed[at] = ((halves[2 * at] as number) << 4) | (halves[2 * at + 1] as number)
  return packed
}

/** The longest run of zeros at `at` that has a code; 0: none. */
function findZeroRun(bytes: Uint8Array, at: number): 0 | 3 | 6 {
  if (bytes[at + 1] !== ZERO || bytes[at + 2] !== ZERO) return 0
  return bytes[at + 3] === ZERO && bytes[at + 4] === ZERO && bytes[at + 5] === ZERO ? 6 : 3
}

/** The text of `packDigits`; undefined: the bytes are damaged. */
export function unpackDigits(packed: Uint8Array): string | undefined {
  const halves = splitHalfBytes(packed)
  const bytes = Buffer.alloc(6 * halves.length, ZERO)
  let size = 0
  for (let at = 0; at < halves.length; at += 1) {
    const half = halves[at] as number
    if (half < THREE) bytes[size++] = signs[half] as number
    // The buffer is filled with zeros already.
    else if (half < ESCAPE) size += half === SIX ? 6 : 3
    else if (at + 2 < halves.length) bytes[size++] = ((halves[++at] as number) << 4) | (halves[++at] as number)
    else if (at + 1 < halves.length) return undefined
  }
  return size === 0 ? undefined : bytes.toString('utf8', 0, size)
}

function splitHalfBytes(packed: Uint8Array): Uint8Array {
  const halves = new Uint8Array(2 * packed.length)
  for (let at = 0; at < packed.length; at += 1) {
    const byte = packed[at] as number
    halves[2 * at] = byte >> 4
    halves[2 * at + 1] = byte & 15
  }
  return halves
}

/** A document as a record of its fields. */
export type DocFields = Readonly<Record<string, unknown>>

/** Computes a field of a document from the others; undefined: not computable. */
export type Follows = (doc: DocFields) => string | undefined

/** Fields that nearly always follow from others of the same document; nothing is stored for them then. */
const FOLLOWS: ReadonlyMap<string, Follows> = new Map([
  // A producer has several consecutive blocks, and the base transaction names the previous block's producer.
  [`${blocks.name}.witness`, (doc: DocFields) => findBaseText(doc['base'], 'w')],
  [`${blocks.name}.witness_account`, (doc: DocFields) => findBaseText(doc['base'], 't')],
  [`${blocks.name}.tx_merkle_hash`, (doc: DocFields) => computeRootOfOne(doc['tx_hashes'])],
  [
    `${transactions.name}.hash`,
    ({ body }: DocFields) => (typeof body === 'string' ? /^\{"hash":"([^"\\]*)"/.exec(body)?.[1] : undefined),
  ],
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
function computeRootOfOne(hashes: unknown): string | undefined {
  const leaf = typeof hashes === 'string' ? (bytesOf32(hashes) ?? hashBytes(hashes)) : undefined
  return leaf === undefined ? undefined : base58Of32(computePairSha3(leaf, leaf))
}

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

const numbersOfWords: ReadonlyMap<string, bigint> = new Map(WORDS.map((word, number) => [word, BigInt(number)]))

/** The number of a word; undefined: the text is not in the list and is stored unchanged. */
export const findWordNumber = (text: string): bigint | undefined => numbersOfWords.get(text)

const BYTES = 32
/** Maximum length of 32 bytes in base58. */
const MAX_LETTERS = 44

/** The 32 bytes of a hash or key; undefined: the text is neither, and is stored unchanged. */
export function packHash(text: string): Uint8Array | undefined {
  const bytes = text.length > MAX_LETTERS ? undefined : base58Bytes(text)
  return bytes?.length === BYTES ? bytes : undefined
}

/** Like `packHash`, for hashes separated by one space: their bytes, concatenated. */
export function packHashes(text: string): Uint8Array | undefined {
  const hashes = text.split(' ')
  const bytes = new Uint8Array(hashes.length * BYTES)
  for (const [at, hash] of hashes.entries()) {
    const own = hash.length > MAX_LETTERS ? undefined : base58Bytes(hash)
    if (own?.length !== BYTES) return undefined
    bytes.set(own, at * BYTES)
  }
  return bytes
}

/** The text of `packHash`; undefined: the bytes are damaged. */
export const unpackHash = (bytes: Uint8Array): string | undefined =>
  bytes.length === BYTES ? base58Of32(bytes) : undefined

/** Whether a cell is the result of `packHashes`. */
export const isHashes = (cell: unknown): cell is Uint8Array =>
  cell instanceof Uint8Array && cell.length > 0 && cell.length % BYTES === 0

/** The text of `packHashes`. */
export function unpackHashes(bytes: Uint8Array): string {
  let text = base58Of32(bytes.subarray(0, BYTES))
  for (let at = BYTES; at < bytes.length; at += BYTES) text += ` ${base58Of32(bytes.subarray(at, at + BYTES))}`
  return text
}
