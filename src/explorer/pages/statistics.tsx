/** @jsxImportSource @kitajs/html */
import { getDailyStatistics } from '#actions/get-daily-statistics.ts'
import { chainDays, type Daily, FIGURES, noDays, seriesOf } from '../format/daily.ts'
import { daysGiven, periodOf } from '../format/period.ts'
import { hrefTo } from '../links.ts'
import { isNarrowed } from '../narrowed.ts'
import type { Html, Page, Visit } from '../page.ts'
import { Count } from '../part/amount.tsx'
import { PERIOD_FIELDS } from '../part/form-fields.ts'
import { PeriodBar } from '../part/period-bar.tsx'
import { Plot } from '../part/plot.tsx'
import { Anchor } from '../part/section-title.tsx'

/** A plot of each figure over a period. The table of each figure is on its own page. */
export const statisticsPage: Page = {
  path: '/statistics',
  fields: PERIOD_FIELDS,
  show: async visit => {
    const { say } = visit
    const period = periodOf(visit)
    const days = chainDays((await visit.ask(getDailyStatistics, daysGiven(visit))).days)
    const title = say({ en: 'Statistics', zh: '统计' })
    return {
      title,
      description: say({
        en: 'The IOST chain day by day: transactions, token movements, new accounts and contracts, gas, RAM and votes.',
        zh: 'IOST 每日统计：交易、代币变动、新账户与新合约、gas、RAM 与票数。',
      }),
      isMinor: isNarrowed(visit, ['start_date', 'end_date']),
      body: (
        <>
          <h1 safe>{title}</h1>
          <Lead visit={visit} last={days.at(-1)} />
          <section class="card">
            <PeriodBar visit={visit} period={period} days={days} />
          </section>
          {days.length === 0 ? <Nothing visit={visit} /> : <Plots visit={visit} days={days} />}
        </>
      ),
    }
  },
}

const Lead = ({ visit: { say }, last }: { readonly visit: Visit; readonly last: Daily | undefined }): Html =>
  last === undefined ? (
    ''
  ) : (
    <p class="about" safe>
      {say({
        en: `Daily figures of the chain (UTC). Large numbers are those of ${last.date}${last.complete ? '' : ' so far'}; each title links to its table.`,
        zh: `每日数据（UTC）。大号数字为 ${last.date}${last.complete ? ' ' : '（截至目前）'}的数值；点击标题查看数据表。`,
      })}
    </p>
  )

const Nothing = ({ visit }: { readonly visit: Visit }): Html => (
  <p class="none" safe>
    {visit.say(noDays(visit))}
  </p>
)

/** A plot of each figure, below its value on the last day. */
const Plots = ({ visit, days }: { readonly visit: Visit; readonly days: readonly Daily[] }): Html => {
  const last = days.at(-1)
  return (
    <div class="plots">
      {FIGURES.map(({ name, title, unit }) => (
        <section class="card">
          <header>
            <div>
              <h2 id={name}>
                <a href={hrefTo(visit, `/statistics/${name}?${periodText(visit)}`)} safe>
                  {visit.say(title)}
                </a>
              </h2>
              <Anchor visit={visit} id={name} title={visit.say(title)} />
            </div>
          </header>
          <p class="last">
            <Count value={last?.[name] ?? 0} /> {unit !== '' && <small safe>{unit}</small>}
          </p>
          <Plot visit={visit} title={visit.say(title)} series={seriesOf(days, name)} />
        </section>
      ))}
    </div>
  )
}

/** The period parameters of the address, for a link to another page. */
const periodText = ({ query }: Visit): string => {
  const kept = [...query].filter(([name]) => name === 'start_date' || name === 'end_date')
  return new URLSearchParams(kept).toString()
}
