import { type Definition, seriesIn, widthOf } from './definition.ts'

/** Memory in which the threads of a process count. Each thread has a part of its own, so none waits for another. */
export type MetricsMemory = { readonly threads: number; readonly numbers: SharedArrayBuffer }

/** The offset of each metric in a thread's part, and the length of a part, in numbers. */
export type Layout<Name extends string> = {
  readonly begins: ReadonlyMap<Name, number>
  readonly length: number
}

/** The layout is the same in every thread, as it follows only from the definitions. */
export const layoutOf = <Name extends string>(definitions: Readonly<Record<Name, Definition>>): Layout<Name> => {
  const begins = new Map<Name, number>()
  let length = 0
  for (const name of Object.keys(definitions) as Name[]) {
    begins.set(name, length)
    length += seriesIn(definitions[name]) * widthOf(definitions[name])
  }
  return { begins, length }
}

/** Memory for threads 0 … `threads` − 1. */
export const metricsMemory = (definitions: Readonly<Record<string, Definition>>, threads: number): MetricsMemory => ({
  threads,
  numbers: new SharedArrayBuffer(threads * layoutOf(definitions).length * 8),
})

/** A thread's part. Another thread may read it at any time: a number of 64 bits is never read half written. */
export const partOf = ({ threads, numbers }: MetricsMemory, thread: number): Float64Array => {
  const length = numbers.byteLength / 8 / threads
  return new Float64Array(numbers, thread * length * 8, length)
}

/**
 * Resets the gauges of a thread that has died, since everything it had open is closed. Its counters stay, and
 * the replacement thread continues them.
 */
export const forgetGauges = (
  definitions: Readonly<Record<string, Definition>>,
  memory: MetricsMemory,
  dead: number,
): void => {
  const { begins } = layoutOf(definitions)
  const part = partOf(memory, dead)
  for (const [name, definition] of Object.entries(definitions)) {
    const begin = begins.get(name)
    if (definition.type === 'gauge' && begin !== undefined) part.fill(0, begin, begin + seriesIn(definition))
  }
}
