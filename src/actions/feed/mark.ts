import { BASE58_LETTER } from '#chain/base58.ts'

/** The end of a block's hash, which tells it from its rivals in an id. */

/**
 * Letters of a hash in an id: by chance a rival has the same once in 10^14 times. (Whoever makes two blocks whose hashes end
 * alike deceives those who count rows, but not those who compare the ids of rows: these have the whole hash.)
 */
export const MARK = 8

/** The pattern of one. */
export const MARK_PATTERN = `${BASE58_LETTER}{${MARK}}`

export const markOf = (hash: string): string => hash.slice(-MARK)
