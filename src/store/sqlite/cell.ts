/** The value of a cell; integers are bigint (`safeIntegers`), except in `SqliteConnection.numberRows`. */
export type Cell = string | bigint | number | Uint8Array | null
