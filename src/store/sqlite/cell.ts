/** The value of a cell; integers are read as bigint (`safeIntegers`). */
export type Cell = string | bigint | number | Uint8Array | null
