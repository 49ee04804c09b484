import { BASE58_LETTER } from '#chain/base58.ts'

/** The end of a block's hash, which distinguishes it from competing blocks in an id. */

/**
 * Length of a mark in characters; two blocks share one by chance once in 10^14 times. (A producer that makes
 * two blocks with the same end of their hashes can deceive readers that count rows, but not readers that
 * compare the ids of rows, which contain the whole hash.)
 */
export const MARK = 8

/** The pattern of a mark. */
export const MARK_PATTERN = `${BASE58_LETTER}{${MARK}}`

export const toMark = (hash: string): string => hash.slice(-MARK)
