/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getDailyStatistics } from '#actions/get-overview.ts'
import { Failure } from '#failure/failure.ts'
import { PERIOD_FIELDS } from '../format/field.ts'
import { chainDays, type Daily, FIGURES, parsePeriod, readGivenDays, toDailySeries } from '../format/period.ts'
import { revealInvisible } from '../format/text.ts'
import { isNarrowed, toHref } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Count, Day } from '../part/amount.tsx'
import { PeriodBar } from '../part/form.tsx'
import { alignNumbers, List, selectPageRows } from '../part/list.tsx'
import { Plot } from '../part/plot.tsx'
import { Anchor, Note } from '../part/section.tsx'
import { Bar } from '../part/share.tsx'

/** A plot of each figure over a period. The table of each figure is on its own page. */
export const statisticsPage: Page = {
  path: '/statistics',
  fields: PERIOD_FIELDS,
  show: async visit => {
    const { say } = visit
    const period = parsePeriod(visit)
    const days = chainDays((await visit.ask(getDailyStatistics, readGivenDays(visit))).days)
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
          {days.length === 0 ? (
            <Note visit={visit} text={describeNoDays(visit)} />
          ) : (
            <Plots visit={visit} days={days} />
          )}
        </>
      ),
    }
  },
}

/** The message that no days match. Later days may exist on the chain and not be loaded yet. */
const describeNoDays = ({ at: { height } }: Pick<Visit, 'at'>): Text => ({
  en: `No block up to ${height} is of these days.`,
  zh: `截至区块 ${height}，这些日期没有区块。`,
})

const Lead = ({ visit, last }: Props<{ last: Daily | undefined }>): Html =>
  last === undefined ? (
    ''
  ) : (
    <Note
      visit={visit}
      kind="about"
      text={{
        en: `Daily figures of the chain (UTC). Large numbers are those of ${last.date}${last.complete ? '' : ' so far'}; each title links to its table.`,
        zh: `每日数据（UTC）。大号数字为 ${last.date}${last.complete ? ' ' : '（截至目前）'}的数值；点击标题查看数据表。`,
      }}
    />
  )

/** A plot of each figure, below its value on the last day. */
function Plots({ visit, days }: Props<{ days: readonly Daily[] }>): Html {
  const last = days.at(-1)
  return (
    <div class="plots">
      {FIGURES.map(({ name, title, unit }) => (
        <section class="card">
          <header>
            <div>
              <h2 id={name}>
                <a href={toHref(visit, `/statistics/${name}?${periodText(visit)}`)} safe>
                  {visit.say(title)}
                </a>
              </h2>
              <Anchor visit={visit} id={name} title={title} />
            </div>
          </header>
          <p class="last">
            <Count value={last?.[name] ?? 0} /> {unit !== '' && <small safe>{unit}</small>}
          </p>
          <Plot visit={visit} title={title} series={toDailySeries(days, name)} />
        </section>
      ))}
    </div>
  )
}

/** The period parameters of the address, for a link to another page. */
function periodText({ query }: Visit): string {
  const kept = [...query].filter(([name]) => name === 'start_date' || name === 'end_date')
  return new URLSearchParams(kept).toString()
}

type Days = ReturnType<typeof chainDays<AnswerOf<typeof getDailyStatistics>['days'][number]>>

/** A page of the table, latest day first. */
function DayRows({
  visit,
  figure,
  days,
  series,
}: {
  readonly visit: Visit
  readonly figure: (typeof FIGURES)[number]
  readonly days: Days
  readonly series: ReturnType<typeof toDailySeries>
}) {
  const most = series.reduce((most, { value }) => (Number(value) > Number(most) ? value : most), '0')
  const { name, title, unit } = figure
  return (
    <List
      visit={visit}
      total={days.length}
      rows={selectPageRows(visit, days.toReversed())}
      none={describeNoDays(visit)}
      columns={[
        ['Day (UTC)', '日期（UTC）', day => <Day visit={visit} day={day} />],
        ['', '', day => <Bar part={String(day[name])} whole={most} />, 'wide'],
        alignNumbers(days, [
          unit === '' ? title.en : `${title.en} (${unit})`,
          unit === '' ? title.zh : `${title.zh}（${unit}）`,
          day => String(day[name]),
          'end',
        ]),
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
    if (figure === undefined)
      throw new Failure('not_found', `There is no daily figure '${revealInvisible(visit.id).slice(0, 64)}'.`, {
        zh: `没有名为 '${revealInvisible(visit.id).slice(0, 64)}' 的每日统计。`,
      })
    const period = parsePeriod(visit)
    const days = chainDays((await visit.ask(getDailyStatistics, readGivenDays(visit))).days)
    const series = toDailySeries(days, figure.name)
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
            <Plot visit={visit} title={figure.title} series={series} isLarge />
          </section>
          <section class="card">
            <DayRows visit={visit} figure={figure} days={days} series={series} />
          </section>
        </>
      ),
    }
  },
}
