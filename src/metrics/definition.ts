/** Labels that belong together, such as route and action, and the values they can have. */
export type Dimension = {
  readonly names: readonly string[]
  /** A value for anything else is added: no label has a value that a caller or the chain has made up. */
  readonly values: readonly (readonly string[])[]
}

/** A metric that is counted where things happen, in memory that the threads of the process share. */
export type Definition = {
  /** As exposed, with its unit, such as `iostlens_http_requests_total`. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly dimensions: readonly Dimension[]
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[]
  /** Each thread has a value of its own, with the label `thread`; otherwise their sum is exposed. */
  readonly perThread?: true
}

/** The value of labels that are not among those of their dimension. */
export const OTHER = 'other'

/** Values that are known beforehand, of one label. */
export const label = (name: string, values: readonly string[]): Dimension => ({
  names: [name],
  values: values.map(value => [value]),
})

/** Numbers that one series takes: the counts of the buckets, the last one's without bound, then the sum. */
export const widthOf = ({ type, buckets = [] }: Definition): number =>
  type === 'histogram' ? buckets.length + 2 : 1

/** How many series a metric can have in one thread. */
export const seriesIn = ({ dimensions }: Definition): number =>
  dimensions.reduce((product, { values }) => product * (values.length + 1), 1)
