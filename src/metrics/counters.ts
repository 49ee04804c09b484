/** The labels of a metric that vary together, such as route and action, with all their values. */
export type Dimension = {
  readonly names: readonly string[]
  /** One more value stands for all others: no label has a value invented by a caller or the chain. */
  readonly values: readonly (readonly string[])[]
}

/** A metric that is counted as events happen. */
export type Definition = {
  /** The exposed name, with its unit, such as `iostlens_http_requests_total`. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly dimensions: readonly Dimension[]
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[]
}

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

type Spread = Pick<Definition, 'buckets'> & Partial<Pick<Definition, 'dimensions'>>

/** A count of values by their size. */
export const histogram = (name: string, help: string, { dimensions = [], ...spread }: Spread): Definition => ({
  name,
  help,
  type: 'histogram',
  dimensions,
  ...spread,
})

/** Numbers stored per series. For a histogram: the counts of the buckets, of the one without a bound, and the sum. */
export function countNumbers({ type, buckets = [] }: Definition): number {
  return type === 'histogram' ? buckets.length + 2 : 1
}

/**
 * The counts of a metric. `labels` has one value for each dimension, its parts joined with `/` if the dimension has
 * several names. Unknown values count as `other`.
 */
export type MetricSeries = {
  /** Increases a counter by `n`, or changes a gauge by `n`. */
  add(n: number, ...labels: readonly string[]): void
  /** Sets a gauge, or a counter that is counted elsewhere. */
  set(value: number, ...labels: readonly string[]): void
  /** Records a value in a histogram. */
  observe(value: number, ...labels: readonly string[]): void
  /** The value of a counter or gauge. */
  read(...labels: readonly string[]): number
  /** The numbers of all series, in the order of their labels. */
  readonly numbers: Float64Array
}

/** The metrics of a process. */
export type Counters<Name extends string> = Readonly<Record<Name, MetricSeries>>

/** Counters that all begin at 0. */
export function createCounters<Name extends string>(definitions: Readonly<Record<Name, Definition>>): Counters<Name> {
  const names = Object.keys(definitions) as Name[]
  return Object.fromEntries(names.map(name => [name, createSeries(definitions[name])])) as Counters<Name>
}

function createSeries(definition: Definition): MetricSeries {
  const { dimensions, buckets = [] } = definition
  const width = countNumbers(definition)
  const known = dimensions.map(indexValues)
  const numbers = new Float64Array(known.reduce((product, { size }) => product * size, width))
  const find = (labels: readonly string[]): number => {
    let place = 0
    // Every request counts some ten metrics; an iterator would take most of that time.
    for (let n = 0; n < known.length; n++) {
      const { indices, size } = known[n] as (typeof known)[number]
      place = place * size + (indices.get(labels[n] ?? '') ?? size - 1)
    }
    return place * width
  }
  const add = (at: number, n: number): void => {
    numbers[at] = (numbers[at] ?? 0) + n
  }
  return {
    add: (n, ...labels) => add(find(labels), n),
    set: (value, ...labels) => {
      numbers[find(labels)] = value
    },
    observe: (value, ...labels) => {
      const first = find(labels)
      let bucket = 0
      while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket++
      add(first + bucket, 1)
      add(first + buckets.length + 1, value)
    },
    read: (...labels) => numbers[find(labels)] ?? 0,
    numbers,
  }
}

/** The index of each value; the last index, `size` − 1, stands for all unknown values. */
function indexValues({ values }: Dimension) {
  return {
    indices: new Map(values.map((value, index) => [value.join('/'), index])),
    size: values.length + 1,
  }
}
