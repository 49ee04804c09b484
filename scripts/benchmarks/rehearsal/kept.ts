import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Interval } from './interval.ts'
import type { Row } from './row.ts'

type Figures = {
  intervals: Interval[]
  /** Rows of each completed step, with the height of the store at that time. */
  steps: Record<string, { readonly height: number; readonly rows: readonly Row[] }>
}

/** The measurements of one chain on one store, kept in a file, so that a rehearsal continues after a kill. */
export type Kept = {
  readonly intervals: readonly Interval[]
  readonly note: (interval: Interval) => void
  /** The rows of a step, measured now unless the file has them for this height. */
  readonly step: (name: string, height: number, measure: () => Promise<readonly Row[]>) => Promise<readonly Row[]>
}

export const keptIn = (path: string): Kept => {
  const figures: Figures = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as Figures)
    : { intervals: [], steps: {} }
  const keep = (): void => {
    writeFileSync(`${path}.part`, JSON.stringify(figures, null, 1))
    renameSync(`${path}.part`, path)
  }
  return {
    intervals: figures.intervals,
    note: interval => {
      figures.intervals.push(interval)
      keep()
    },
    step: async (name, height, measure) => {
      const known = figures.steps[name]
      if (known?.height === height) return known.rows
      const rows = await measure()
      figures.steps[name] = { height, rows }
      keep()
      return rows
    },
  }
}
