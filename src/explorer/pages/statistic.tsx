/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getDailyStatistics } from '#actions/get-daily-statistics.ts'
import { Failure } from '#failure/failure.ts'
import { decimalsOf } from '../format/amount.ts'
import { chainDays, FIGURES, noDays, seriesOf } from '../format/daily.ts'
import { daysGiven, periodOf } from '../format/period.ts'
import { visible } from '../format/visible.ts'
import { isNarrowed } from '../narrowed.ts'
import type { Page, Visit } from '../page.ts'
import { Count } from '../part/amount.tsx'
import { Day } from '../part/day.tsx'
import { PERIOD_FIELDS } from '../part/form-fields.ts'
import { Pager, pageOf } from '../part/pager.tsx'
import { PeriodBar } from '../part/period-bar.tsx'
import { Plot } from '../part/plot.tsx'
import { Rows } from '../part/rows.tsx'
import { Bar } from '../part/share.tsx'

type Days = ReturnType<typeof chainDays<AnswerOf<typeof getDailyStatistics>['days'][number]>>

/** A page of the table, latest day first. */
const DayRows = ({
  visit,
  figure,
  days,
  series,
}: {
  readonly visit: Visit
  readonly figure: (typeof FIGURES)[number]
  readonly days: Days
  readonly series: ReturnType<typeof seriesOf>
}) => {
  const most = series.reduce((most, { value }) => (Number(value) > Number(most) ? value : most), '0')
  const decimals = decimalsOf(series.map(({ value }) => value))
  return (
    <Rows
      visit={visit}
      rows={pageOf(visit, days.toReversed())}
      none={noDays(visit)}
      columns={[
        ['Day (UTC)', '日期（UTC）', day => <Day visit={visit} day={day} />],
        ['', '', day => <Bar part={String(day[figure.name])} whole={most} />, { place: 'wide' }],
        [
          figure.unit === '' ? figure.title.en : `${figure.title.en} (${figure.unit})`,
          figure.unit === '' ? figure.title.zh : `${figure.title.zh}（${figure.unit}）`,
          day => <Count value={day[figure.name]} decimals={decimals} />,
          { isNumber: true, place: 'end' },
        ],
      ]}
    />
  )
}

/** One figure of the days of a period, as a plot and as a table. */
export const statisticPage: Page = {
  path: '/statistics/{id}',
  fields: PERIOD_FIELDS,
  show: async visit => {
    const { say } = visit
    const figure = FIGURES.find(({ name }) => name === visit.id)
    if (figure === undefined) throw noSuch(visit.id)
    const period = periodOf(visit)
    const days = chainDays((await visit.ask(getDailyStatistics, daysGiven(visit))).days)
    const series = seriesOf(days, figure.name)
    const title = say(figure.title)
    return {
      title,
      description: say({
        en: `${title} of the IOST chain, day by day, as a plot and a table.`,
        zh: `IOST 每日统计：${title}，含图表与数据表。`,
      }),
      isMinor: isNarrowed(visit, ['start_date', 'end_date', 'page']),
      body: (
        <>
          <h1 safe>{title}</h1>
          <section class="card">
            <PeriodBar visit={visit} period={period} days={days} />
            <Plot visit={visit} title={title} series={series} isLarge />
          </section>
          <section class="card">
            <DayRows visit={visit} figure={figure} days={days} series={series} />
            <Pager visit={visit} total={days.length} />
          </section>
        </>
      ),
    }
  },
}

const noSuch = (name: string): Failure =>
  new Failure('not_found', `There is no daily figure '${visible(name).slice(0, 64)}'.`, {
    zh: `没有名为 '${visible(name).slice(0, 64)}' 的每日统计。`,
  })
