import { fixed, table } from './measure.ts'

/** A promise about speed or memory, and its measurement. */
export type Verdict = {
  readonly promise: string
  readonly most?: number
  readonly least?: number
  readonly unit: string
  readonly measured: number
}

/**
 * All promises in one table with the measurements of this run. They mean little for a run of another size or
 * beside other work.
 */
export const verdictTable = (verdicts: readonly Verdict[]): string =>
  table(
    ['promise', 'bound', 'measured', 'kept'],
    verdicts.map(({ promise, most, least, unit, measured }) => {
      const bound = most === undefined ? `≥ ${least} ${unit}` : `≤ ${most} ${unit}`
      const isKept = measured <= (most ?? measured) && measured >= (least ?? measured)
      return [promise, bound, `${fixed(measured)} ${unit}`, isKept ? 'yes' : 'no']
    }),
  )
