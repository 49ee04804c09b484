/** @jsxImportSource @kitajs/html */
import type { Step } from '#actions/request/step.ts'
import { decimalsOf } from '../format/amount.ts'
import { STEP_NAMES, type StepRow } from '../format/steps.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Day } from './day.tsx'
import { More } from './more.tsx'
import { type Column, Rows } from './rows.tsx'

type Field<R> = readonly [en: string, zh: string, value: (row: R) => string]

type StepTableProps<R> = {
  readonly visit: Pick<Visit, 'say' | 'site'>
  readonly step: Step
  /** Oldest first, like in the plot. */
  readonly rows: readonly R[]
  readonly fields: readonly Field<R>[]
}

/** Maximum rows of a plot's table on a page. */
const MOST = 12

/** A collapsed table with the exact figures of a plot, newest first. */
export const StepTable = <R extends StepRow>({ visit, step, rows, fields }: StepTableProps<R>): Html => {
  const { title, head } = STEP_NAMES[step]
  const shown = rows.toReversed().slice(0, MOST)
  return (
    <details class="inner">
      <summary safe>{visit.say(title)}</summary>
      <Rows
        visit={visit}
        rows={shown}
        isNarrow
        columns={[
          [head.en, head.zh, row => <Day visit={visit} day={row} />],
          ...fields.map(field => columnOf(field, shown)),
        ]}
      />
      <More visit={visit} shown={MOST} total={rows.length} />
    </details>
  )
}

const columnOf = <R,>([en, zh, value]: Field<R>, rows: readonly R[]): Column<R> => {
  const decimals = decimalsOf(rows.map(value))
  return [en, zh, row => <Count value={value(row)} decimals={decimals} />, { isNumber: true }]
}
