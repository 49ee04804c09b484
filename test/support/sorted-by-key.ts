export type Row = readonly [key: string, value: unknown]

/** Rows of a state, comparable whatever order they came in. */
export const sortedByKey = (rows: Iterable<Row>): readonly Row[] =>
  [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
