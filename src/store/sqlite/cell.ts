/** The value of a cell; integers are read as bigint (`safeIntegers`), but for `Connection.numberRows`. */
export type Cell = string | bigint | number | Uint8Array | null
