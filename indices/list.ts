import { type DocOf, defineIndex, int, json } from './define.ts'

/**
 * Positions in the chain as ids. They are fixed-width decimals, so text order is chain order and an id contains the
 * position of its document. Identical twins get different ids, and writing a block twice writes the same documents.
 *
 * Widths: 12 digits of height outlast the chain by 15,000 years at two blocks a second. A block holds at most some
 * hundred transactions today (gas limit 8,000,000), and a transaction at most a few hundred rows.
 */
const HEIGHT_DIGITS = 12
const TX_DIGITS = 5
const ROW_DIGITS = 5
const HEIGHTS = 10 ** HEIGHT_DIGITS
/** Maximum number of transactions in a block. */
export const TX_PLACES = 10 ** TX_DIGITS

/** Suffixes of the first 1,000 positions, precomputed: most positions in a block or a transaction are among them. */
const PARTS = Array.from({ length: 1_000 }, (_, value) => `-${String(value).padStart(TX_DIGITS, '0')}`)

/**
 * The id of a block. With `tx`, the position in the block (0 is the base transaction), the id of a
 * transaction. With `index` too, the row's number in the transaction, the id of a record.
 */
export function formatId(height: number, tx?: number, index?: number): string {
  if (!(Number.isInteger(height) && height >= 0 && height < HEIGHTS)) throw misfit(height, HEIGHT_DIGITS)
  // The digits follow a one, which is cut off. This takes a third of the time of padStart, and every row read
  // has an id.
  const block = String(HEIGHTS + height).slice(1)
  if (tx === undefined) return block
  const transaction = block + (PARTS[tx] ?? formatPart(tx))
  return index === undefined ? transaction : transaction + (PARTS[index] ?? formatPart(index))
}

function formatPart(value: number): string {
  if (!(Number.isInteger(value) && value >= 0 && value < TX_PLACES)) throw misfit(value, TX_DIGITS)
  return `-${String(value).padStart(TX_DIGITS, '0')}`
}

const misfit = (value: number, digits: number): RangeError =>
  new RangeError(`Position ${value} does not fit ${digits} digits.`)

export const blockId = (height: number): string => formatId(height)
export const transactionId = (height: number, tx: number): string => formatId(height, tx)
export const recordId = (height: number, tx: number, index: number): string => formatId(height, tx, index)

/** The number in the given digits from `from` on; NaN if other characters are there. */
function parseDigits(id: string, from: number, digits: number): number {
  let value = 0
  for (let at = from; at < from + digits; at += 1) {
    // '0'
    const digit = id.charCodeAt(at) - 0x30
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

const TX_AT = HEIGHT_DIGITS + 1
const ROW_AT = TX_AT + TX_DIGITS + 1

/** Length of the id of a block (1 part), a transaction (2) or a record (3), in characters. */
export const idLength = (parts: number): number => HEIGHT_DIGITS + (parts - 1) * (1 + TX_DIGITS)

/** The height (0), transaction (1) or row (2) in an id of that length; NaN if the id has no such part there. */
export function parseIdPart(id: string, part: number): number {
  if (part === 0) return parseDigits(id, 0, HEIGHT_DIGITS)
  const at = part === 1 ? TX_AT : ROW_AT
  return id[at - 1] === '-' ? parseDigits(id, at, part === 1 ? TX_DIGITS : ROW_DIGITS) : Number.NaN
}

/**
 * The height of an id, with the transaction and the row if it has them; undefined: it is not the id of a
 * block, transaction or record.
 */
export function parsePosition(id: string): readonly number[] | undefined {
  const { length } = id
  const position = [parseIdPart(id, 0)]
  if (length >= TX_AT) position.push(parseIdPart(id, 1))
  if (length >= ROW_AT) position.push(parseIdPart(id, 2))
  return length === idLength(position.length) && !position.some(Number.isNaN) ? position : undefined
}

/**
 * One document per list of records. Id: the list's key (`listOf`). A list is numbered when its first row
 * arrives, in chain order. Its rows have ordinals 1, 2, 3 … without a gap.
 */
export const lists = defineIndex({
  name: 'lists',
  kind: 'state',
  fields: {
    number: int(),
    /** Number of rows in the list: the exact total of its pages. */
    count: int(),
    /** First ordinal of its rows in each partition of records: [partition, first ordinal], ascending. */
    starts: json<readonly (readonly [partition: number, ordinal: number])[]>(),
  },
})
export type ListDoc = DocOf<typeof lists>

/** Keys of the lists. Names are validated by the caller (chain/names.ts). */
export const listOf = {
  account: (name: string): string => `account/${name}`,
  contract: (contract: string): string => `contract/${contract}`,
  action: (contract: string, action: string): string => `action/${contract}/${action}`,
  created: (account: string): string => `created/${account}`,
  /** Movements of a token. */
  token: (symbol: string): string => `token/${symbol}`,
  /** Rows of an account that moved a token to or from it. */
  moved: (account: string, symbol: string): string => `moved/${account}/${symbol}`,
  /** Rows that moved some token to an account from elsewhere. */
  received: (account: string): string => `in/${account}`,
  /** Rows that moved a token to an account from elsewhere. */
  receivedOf: (account: string, symbol: string): string => `in/${account}/${symbol}`,
  /** Rows of an account whose transaction failed. */
  failed: (account: string): string => `failed/${account}`,
  /** Rows of the calls of a contract's action (`funcName`: `token.iost/transfer`) that an account published itself. */
  called: (account: string, funcName: string): string => `called/${account}/${funcName}`,
  /** Rows that deployed a contract. */
  contracts: 'contracts',
} as const
export type ListKind = keyof typeof listOf

/** The key of a list by its kind and the one or two names that `listOf` takes for it. */
export const listKey = (kind: ListKind, name: string, within = ''): string =>
  kind === 'contracts' ? listOf.contracts : listOf[kind](name, within)

const ORDINALS = 2n ** 32n

/** Place of a row in a list: list number · 2^32 + ordinal. Throws RangeError for a place in another list. */
export function toPlace(list: number, ordinal: number): bigint {
  if (ordinal < 0 || ordinal >= ORDINALS)
    throw new RangeError(`A list has no row ${ordinal}: it has fewer than ${ORDINALS} rows.`)
  return BigInt(list) * ORDINALS + BigInt(ordinal)
}

/** List number and ordinal that a place encodes. */
export const listAndOrdinal = (place: bigint): { readonly list: number; readonly ordinal: number } => ({
  list: Number(place / ORDINALS),
  ordinal: Number(place % ORDINALS),
})
