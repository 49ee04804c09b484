/** @jsxImportSource @kitajs/html */
import type { Step } from '#actions/request/step.ts'
import type { Text } from '#actions/text.ts'
import type { StepRow } from '../format/steps.ts'
import type { Html, Visit } from '../page.ts'
import type { Plot } from './plot.tsx'
import { StepTable } from './step-table.tsx'

/** A figure of each step. */
type Figure<R> = {
  /** The title, with the unit if there is one. */
  readonly title: Text
  /** The column's head, in English and Chinese. */
  readonly head: readonly [en: string, zh: string]
  readonly value: (row: R) => string
}

type OverTimeProps<R> = {
  readonly visit: Visit
  readonly step: Step
  /** Oldest first. */
  readonly rows: readonly R[]
  readonly Plotted: typeof Plot
  /** The figures with a plot. */
  readonly figures: readonly Figure<R>[]
  /** The figures that are only in the table. */
  readonly others?: readonly Figure<R>[]
}

/** A plot of each figure, and a collapsed table of all of them. */
export const OverTime = <R extends StepRow>(props: OverTimeProps<R>): Html => {
  const { visit, step, rows, Plotted, figures, others = [] } = props
  return (
    <>
      {figures.map(({ title, value }) => (
        <div class="over-time">
          <h3 safe>{visit.say(title)}</h3>
          <Plotted
            visit={visit}
            title={visit.say(title)}
            series={rows.map(row => ({ date: row.date, value: value(row) }))}
          />
        </div>
      ))}
      <StepTable
        visit={visit}
        step={step}
        rows={rows}
        fields={[...figures, ...others].map(({ head: [en, zh], value }) => [en, zh, value] as const)}
      />
    </>
  )
}
