import { Gauge, Registry } from 'prom-client'
import { type Counters, countNumbers, type Definition, type Dimension, type MetricSeries } from './counters.ts'

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
        (await reading.read()).map(each => ({ ...each, labels: named(labels, each.labels) })),
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

const named = (names: readonly string[], values: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

/**
 * A counter with at most this number of series shows all of them from the start: to Prometheus, an increase
 * from absent to 1 is no increase.
 */
const FEW = 32

/** The value for labels outside their dimension. */
const OTHER = 'other'

function listLines(definition: Definition, { numbers }: MetricSeries): readonly Line[] {
  const width = countNumbers(definition)
  const count = numbers.length / width
  return Array.from({ length: count }, (_, place) => {
    const own = numbers.subarray(place * width, (place + 1) * width)
    const labels = getLabels(definition.dimensions, place)
    const isHidden =
      count > FEW || (count > 1 && definition.type === 'histogram') || Object.values(labels).includes(OTHER)
    return isHidden && own.every(number => number === 0) ? [] : linesOfSeries(definition, own, labels)
  }).flat()
}

function getLabels(dimensions: readonly Dimension[], place: number): Readonly<Record<string, string>> {
  const labels: [string, string][] = []
  let rest = place
  for (const { names, values } of dimensions.toReversed()) {
    const size = values.length + 1
    const value = values[rest % size]
    labels.push(...names.map((name, at): [string, string] => [name, value === undefined ? OTHER : (value[at] ?? '')]))
    rest = Math.floor(rest / size)
  }
  return Object.fromEntries(labels)
}

function linesOfSeries(
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
