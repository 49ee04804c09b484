/** The labels of a metric that vary together, such as route and action, with all their values. */
export type Dimension = {
  readonly names: readonly string[]
  /** One more value stands for all others: no label has a value invented by a caller or the chain. */
  readonly values: readonly (readonly string[])[]
}

/** A metric that is counted as events happen, in memory shared by the threads of the process. */
export type Definition = {
  /** The exposed name, with its unit, such as `iostlens_http_requests_total`. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly dimensions: readonly Dimension[]
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[]
  /** Each thread is exposed on its own, with the label `thread`; otherwise their sum is exposed. */
  readonly perThread?: true
}

/** The value for labels outside their dimension. */
export const OTHER = 'other'

/** A dimension of one label whose values are known beforehand. */
export const label = (name: string, values: readonly string[]): Dimension => ({
  names: [name],
  values: values.map(value => [value]),
})

/** A count that only grows. */
export const counter = (name: string, help: string, ...dimensions: readonly Dimension[]): Definition => ({
  name,
  help,
  type: 'counter',
  dimensions,
})

type Spread = Pick<Definition, 'buckets' | 'perThread'> & Partial<Pick<Definition, 'dimensions'>>

/** A count of values by their size. */
export const histogram = (name: string, help: string, { dimensions = [], ...spread }: Spread): Definition => ({
  name,
  help,
  type: 'histogram',
  dimensions,
  ...spread,
})

/** Numbers stored per series. For a histogram: the counts of the buckets, of the one without a bound, and the sum. */
export const widthOf = ({ type, buckets = [] }: Definition): number => (type === 'histogram' ? buckets.length + 2 : 1)

/** Maximum number of series of a metric in one thread. */
export const seriesIn = ({ dimensions }: Definition): number =>
  dimensions.reduce((product, { values }) => product * (values.length + 1), 1)
