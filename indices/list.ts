import { type DocOf, defineIndex, int, json } from './define.ts'

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
