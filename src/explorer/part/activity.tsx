/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'
import { Plot } from './plot.tsx'
import { StepTable } from './step-table.tsx'

type ActivityProps = {
  readonly visit: Pick<Visit, 'say' | 'lang' | 'site'>
  /** Oldest first. */
  readonly days: readonly { readonly date: string; readonly complete: boolean; readonly records: number }[]
}

/**
 * The number of records of an account or a contract on each of the last days: a plot, and a table of the days
 * with records; empty if there are none.
 */
export const Activity = ({ visit, days }: ActivityProps): Html => {
  if (days.every(({ records }) => records === 0)) return ''
  const title = visit.say({ en: 'Records per day (UTC)', zh: '每日记录数（UTC）' })
  return (
    <div class="activity">
      <h3 safe>{title}</h3>
      <Plot visit={visit} title={title} series={days.map(({ date, records }) => ({ date, value: String(records) }))} />
      <StepTable
        visit={visit}
        step="day"
        rows={days.filter(({ records }) => records > 0)}
        fields={[['Records', '记录数', ({ records }) => String(records)]]}
      />
    </div>
  )
}
