/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getAccountActivity } from '#actions/get-account-activity.ts'
import type { Html, Visit } from '../page.ts'
import { Plot } from './plot.tsx'

type ActivityProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly days: AnswerOf<typeof getAccountActivity>['days']
}

/** How many records an account had on each of the last days; nothing where it had none. */
export const Activity = ({ visit, days }: ActivityProps): Html => {
  if (days.every(({ records }) => records === 0)) return ''
  const title = visit.say({ en: 'Records per day (UTC)', zh: '每日记录数（UTC）' })
  return (
    <div class="activity">
      <h3 safe>{title}</h3>
      <Plot
        visit={visit}
        title={title}
        series={days.map(({ date, records }) => ({ date, value: String(records) }))}
      />
    </div>
  )
}
