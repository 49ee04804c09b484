export type Row = readonly [key: string, value: unknown]

/** Rows of a state, sorted so that they are comparable in any order. */
export const sortedByKey = (rows: Iterable<Row>): readonly Row[] => [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
