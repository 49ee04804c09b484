import { Gauge, Registry } from 'prom-client'
import { type Definition, type Dimension, OTHER, seriesIn, widthOf } from './definition.ts'
import { layoutOf, type MetricsMemory, partOf } from './memory.ts'

/** A metric that is computed when it is scraped. */
export type ScrapedMetric = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly labels?: readonly string[]
  /** Values with their labels, in the order of `labels`; unknown values are left out. */
  read(): Promise<readonly Value[]> | readonly Value[]
}
export type Value = { readonly labels?: readonly string[]; readonly value: number }

export type Exposition = { readonly type: string; text(): Promise<string> }

/** All metrics of a process in the text format of Prometheus. */
export const exposition = (
  definitions: Readonly<Record<string, Definition>>,
  memory: MetricsMemory,
  readings: readonly ScrapedMetric[],
): Exposition => {
  const registry = new Registry()
  const { begins } = layoutOf(definitions)
  const parts = Array.from({ length: memory.threads }, (_, thread) => partOf(memory, thread))
  for (const [name, definition] of Object.entries(definitions)) {
    const begin = begins.get(name) ?? 0
    registry.registerMetric(new Shown(definition, async () => countedIn(definition, begin, parts)))
  }
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

/** The lines of a metric: one sum over all threads, or one per thread. */
const countedIn = (definition: Definition, begin: number, parts: readonly Float64Array[]): readonly Line[] => {
  const width = widthOf(definition)
  const count = seriesIn(definition)
  const linesOf = (read: (at: number) => number, labels: Readonly<Record<string, string>>): Line[] =>
    Array.from({ length: count }, (_, place) => {
      const numbers = Array.from({ length: width }, (_, at) => read(begin + place * width + at))
      const own = labelsAt(definition.dimensions, place)
      const isHidden =
        definition.perThread === true ||
        count > FEW ||
        (count > 1 && definition.type === 'histogram') ||
        Object.values(own).includes(OTHER)
      if (isHidden && numbers.every(number => number === 0)) return []
      return linesOfSeries(definition, numbers, { ...own, ...labels })
    }).flat()
  if (definition.perThread === true)
    return parts.flatMap((part, thread) => linesOf(at => part[at] ?? 0, { thread: String(thread) }))
  return linesOf(at => parts.reduce((sum, part) => sum + (part[at] ?? 0), 0), {})
}

const labelsAt = (dimensions: readonly Dimension[], place: number): Readonly<Record<string, string>> => {
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

const linesOfSeries = (
  { type, name, buckets = [] }: Definition,
  numbers: readonly number[],
  labels: Readonly<Record<string, string>>,
): readonly Line[] => {
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
