import { Gauge, Registry } from 'prom-client'

/** The labels of a metric that vary together, such as route and action, with all their values. */
type Dimension = {
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

/** A count of values by their size. */
export const histogram = (
  name: string,
  help: string,
  { dimensions = [], ...spread }: Pick<Definition, 'buckets'> & Partial<Pick<Definition, 'dimensions'>>,
): Definition => ({
  name,
  help,
  type: 'histogram',
  dimensions,
  ...spread,
})

/** Numbers stored per series. For a histogram: the counts of the buckets, of the one without a bound, and the sum. */
function countNumbers({ type, buckets = [] }: Definition): number {
  return type === 'histogram' ? buckets.length + 2 : 1
}

/**
 * The counts of a metric. `labels` has one value for each dimension, its parts joined with `/` if the dimension has
 * several names. Unknown values count as `other`.
 */
type MetricSeries = {
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
  // The last index of a dimension, `size` − 1, stands for all unknown values.
  const known = dimensions.map(({ values }) => ({
    indices: new Map(values.map((value, index) => [value.join('/'), index])),
    size: values.length + 1,
  }))
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

/** A metric that is computed when it is scraped. */
export type ScrapedMetric = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly labels?: readonly string[]
  /** Values with their labels, in the order of `labels`; unknown values are left out. */
  read(): Promise<readonly Value[]> | readonly Value[]
}
type Value = { readonly labels?: readonly string[]; readonly value: number }

export type Exposition = { readonly type: string; text(): Promise<string> }

/** All metrics of a process in the text format of Prometheus. */
export function createExposition<Name extends string>(
  definitions: Readonly<Record<Name, Definition>>,
  counters: Counters<Name>,
  readings: readonly ScrapedMetric[],
): Exposition {
  const registry = new Registry()
  for (const name of Object.keys(definitions) as Name[])
    registry.registerMetric(new Shown(definitions[name], async () => listLines(definitions[name], counters[name])))
  for (const { labels = [], ...reading } of readings)
    registry.registerMetric(
      new Shown({ ...reading, dimensions: labels.map(name => ({ names: [name], values: [] })) }, async () =>
        (await reading.read()).map(each => ({ ...each, labels: toLabels(labels, each.labels) })),
      ),
    )
  return { type: registry.contentType, text: () => registry.metrics() }
}

type Line = {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric whose values are stored outside of prom-client. */
class Shown extends Gauge<string> {
  readonly #type: Definition['type']
  readonly #lines: () => Promise<readonly Line[]>
  constructor(
    { name, help, type, dimensions }: Pick<Definition, 'name' | 'help' | 'type' | 'dimensions'>,
    lines: () => Promise<readonly Line[]>,
  ) {
    super({ name, help, labelNames: dimensions.flatMap(({ names }) => names), registers: [] })
    this.#type = type
    this.#lines = lines
  }
  override async get() {
    const values = [...(await this.#lines())]
    return Object.assign(await super.get(), { type: this.#type, values })
  }
}

const toLabels = (names: readonly string[], values: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

/**
 * A counter with at most this number of series shows all of them from the start: to Prometheus, an increase
 * from absent to 1 is no increase.
 */
const FEW = 32

function listLines(definition: Definition, { numbers }: MetricSeries): readonly Line[] {
  const width = countNumbers(definition)
  const count = numbers.length / width
  return Array.from({ length: count }, (_, place) => {
    const own = numbers.subarray(place * width, (place + 1) * width)
    const labels = getLabels(definition.dimensions, place)
    const isHidden =
      count > FEW || (count > 1 && definition.type === 'histogram') || Object.values(labels).includes('other')
    return isHidden && own.every(number => number === 0) ? [] : formatSeriesLines(definition, own, labels)
  }).flat()
}

function getLabels(dimensions: readonly Dimension[], place: number): Readonly<Record<string, string>> {
  const labels: [string, string][] = []
  let rest = place
  for (const { names, values } of dimensions.toReversed()) {
    const size = values.length + 1
    const value = values[rest % size]
    labels.push(...names.map((name, at): [string, string] => [name, value === undefined ? 'other' : (value[at] ?? '')]))
    rest = Math.floor(rest / size)
  }
  return Object.fromEntries(labels)
}

function formatSeriesLines(
  { type, name, buckets = [] }: Definition,
  numbers: Float64Array,
  labels: Readonly<Record<string, string>>,
): readonly Line[] {
  if (type !== 'histogram') return [{ labels, value: numbers[0] ?? 0 }]
  let count = 0
  const lines = [...buckets, '+Inf'].map((le, at) => {
    count += numbers[at] ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le: String(le) }, value: count }
  })
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: numbers[buckets.length + 1] ?? 0 },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
