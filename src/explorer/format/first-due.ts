/** The row that is due first, whatever its place; `time` is in nanoseconds since 1970. undefined: there is none. */
export const firstDue = <R extends { readonly time: string }>(rows: readonly R[]): R | undefined =>
  rows.reduce<R | undefined>(
    (first, row) => (first === undefined || BigInt(row.time) < BigInt(first.time) ? row : first),
    undefined,
  )
