/** The rows that are due first, in any input order. `time` is in nanoseconds since 1970. */
export const firstDue = <R extends { readonly time: string }>(rows: readonly R[]): readonly R[] => {
  const first = rows.reduce<string | undefined>(
    (time, row) => (time === undefined || BigInt(row.time) < BigInt(time) ? row.time : time),
    undefined,
  )
  return rows.filter(({ time }) => time === first)
}
