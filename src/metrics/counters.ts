import { Failure } from '#failure/failure.ts'
import { type Definition, type Dimension, widthOf } from './definition.ts'
import { layoutOf, type MetricsMemory, partOf } from './memory.ts'

/**
 * A metric as one thread counts it. `labels` has one value for each dimension, its parts joined with `/` if
 * the dimension has several names. Unknown values count as `other`.
 */
export type Series = {
  /** Increases a counter by `n`, or changes a gauge by `n`. */
  add(n: number, ...labels: readonly string[]): void
  /** Sets a gauge. */
  set(value: number, ...labels: readonly string[]): void
  /** Records a value in a histogram. */
  observe(value: number, ...labels: readonly string[]): void
  /** The sum of a counter or gauge over all threads. */
  sum(...labels: readonly string[]): number
  /** Sets a gauge to 0 in all threads. */
  reset(...labels: readonly string[]): void
}

/** The metrics of a process, as one thread counts them. */
export type Counters<Name extends string> = Readonly<Record<Name, Series>>

export const countersIn = <Name extends string>(
  definitions: Readonly<Record<Name, Definition>>,
  memory: MetricsMemory,
  thread: number,
): Counters<Name> => {
  const { begins, length } = layoutOf(definitions)
  const part = partOf(memory, thread)
  if (part.length !== length)
    throw new Failure('defect', `Metrics take ${length} numbers; the memory has ${part.length} of a thread.`)
  const parts = Array.from({ length: memory.threads }, (_, each) => partOf(memory, each))
  const names = Object.keys(definitions) as Name[]
  return Object.fromEntries(
    names.map(name => [name, seriesOf(definitions[name], { part, parts, begin: begins.get(name) ?? 0 })]),
  ) as Counters<Name>
}

/** The numbers of this thread and of all threads, and where those of a metric begin. */
type Place = { readonly part: Float64Array; readonly parts: readonly Float64Array[]; readonly begin: number }

const seriesOf = (definition: Definition, { part, parts, begin }: Place): Series => {
  const { dimensions, buckets = [] } = definition
  const width = widthOf(definition)
  const places = dimensions.map(placesOf)
  const at = (labels: readonly string[]): number => {
    let place = 0
    // Every request counts some ten metrics; an iterator would take most of that time.
    for (let n = 0; n < places.length; n++) {
      const { known, size } = places[n] as (typeof places)[number]
      place = place * size + (known.get(labels[n] ?? '') ?? size - 1)
    }
    return begin + place * width
  }
  const add = (place: number, n: number): void => {
    part[place] = (part[place] ?? 0) + n
  }
  return {
    add: (n, ...labels) => add(at(labels), n),
    set: (value, ...labels) => {
      part[at(labels)] = value
    },
    observe: (value, ...labels) => {
      const first = at(labels)
      let bucket = 0
      while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket++
      add(first + bucket, 1)
      add(first + buckets.length + 1, value)
    },
    sum: (...labels) => {
      const place = at(labels)
      return parts.reduce((sum, each) => sum + (each[place] ?? 0), 0)
    },
    reset: (...labels) => {
      for (const each of parts) each[at(labels)] = 0
    },
  }
}

/** The index of each value; the last index, `size` − 1, stands for all unknown values. */
const placesOf = ({ values }: Dimension) => ({
  known: new Map(values.map((value, place) => [value.join('/'), place])),
  size: values.length + 1,
})
