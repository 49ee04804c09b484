/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { DAYS_OF_CHANGE } from '#actions/find/votes-by-day.ts'
import type { getProducerVotes } from '#actions/get-producer-votes.ts'
import type { Text } from '#actions/text.ts'
import { decimalsOf, signed, sumOf } from '../format/amount.ts'
import { counted } from '../format/counted.ts'
import type { Html, Visit } from '../page.ts'
import { Change, Count } from './amount.tsx'
import { Card } from './card.tsx'
import { Day } from './day.tsx'
import { LevelPlot } from './plot.tsx'
import { PlotFrame, type Series } from './plot-frame.tsx'
import { Bars, type ShapeProps } from './plot-shapes.tsx'
import { Rows } from './rows.tsx'

/** A producer's votes by day, oldest first. */
export type VoteDays = AnswerOf<typeof getProducerVotes>['days']

type VoteDaysProps = { readonly visit: Pick<Visit, 'say' | 'lang' | 'now'>; readonly days: VoteDays }

/** The change in votes on the last day and over a week. */
export const LatestChanges = ({ visit, days }: VoteDaysProps): Html => (
  <small>
    <span class="line">
      <Change value={days.at(-1)?.change ?? '0'} /> <span safe>{visit.say(lastDayOf(visit, days))}</span>
    </span>
    <span class="line">
      <Change value={sumOf(days.slice(-DAYS_OF_CHANGE).map(({ change }) => change))} />{' '}
      <span safe>{visit.say({ en: 'over 7 days', zh: '近 7 天' })}</span>
    </span>
  </small>
)

/** The name of the last day. If the service is behind, the day of the last block is over. */
const lastDayOf = ({ now }: Pick<Visit, 'now'>, days: VoteDays): Text => {
  const today = new Date(now).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const last = days.at(-1)?.date ?? today
  return last === today ? { en: 'today (UTC)', zh: '今日（UTC）' } : { en: `on ${last} (UTC)`, zh: `${last}（UTC）` }
}

/** The votes at the end of each day and the daily changes, as plots and as a table. */
export const VotesByDay = ({ visit, days }: VoteDaysProps): Html => {
  const { say } = visit
  const title = say({ en: 'Daily change in votes (IOST)', zh: '每日票数变化（IOST）' })
  const votesTitle = say({ en: 'Votes (IOST)', zh: '票数（IOST）' })
  const votesDecimals = decimalsOf(days.map(({ votes }) => votes))
  const changeDecimals = decimalsOf(days.map(({ change }) => change))
  return (
    <Card visit={visit} id="votes-by-day" title={say({ en: 'Votes over time', zh: '票数走势' })}>
      <div class="over-time">
        <h3 safe>{votesTitle}</h3>
        <LevelPlot visit={visit} title={votesTitle} series={days.map(({ date, votes }) => ({ date, value: votes }))} />
      </div>
      <div class="over-time">
        <h3 safe>{title}</h3>
        <ChangePlot visit={visit} title={title} series={days.map(({ date, change }) => ({ date, value: change }))} />
      </div>
      <details class="inner">
        <summary safe>{say({ en: 'Votes by day', zh: '每日票数' })}</summary>
        <Rows
          visit={visit}
          rows={days.toReversed()}
          columns={[
            ['Day (UTC)', '日期（UTC）', day => <Day visit={visit} day={day} />],
            [
              'Votes at end of day (IOST)',
              '当日结束时的票数（IOST）',
              ({ votes }) => <Count value={votes} decimals={votesDecimals} />,
              { isNumber: true },
            ],
            [
              'Change (IOST)',
              '变化（IOST）',
              ({ change }) => <Change value={change} decimals={changeDecimals} />,
              { isNumber: true, place: 'end' },
            ],
          ]}
        />
      </details>
    </Card>
  )
}

type ChangePlotProps = {
  readonly visit: Pick<Visit, 'say' | 'lang'>
  readonly title: string
  readonly series: Series
}

/** The daily change of a figure: bars rise from zero for gains and fall for losses. */
const ChangePlot = ({ visit, title, series }: ChangePlotProps): Html => {
  const { say } = visit
  const values = series.map(({ value }) => Number(value))
  const scale = { least: Math.min(0, ...values), most: Math.max(0, ...values) }
  const gain = series[values.indexOf(scale.most)]
  const loss = series[values.indexOf(scale.least)]
  const told = [
    ...(gain === undefined || scale.most === 0
      ? []
      : [say({ en: `Largest gain: ${on(gain)}`, zh: `最大增加：${on(gain)}` })]),
    ...(loss === undefined || scale.least === 0
      ? []
      : [say({ en: `Largest loss: ${on(loss)}`, zh: `最大减少：${on(loss)}` })]),
  ]
  if (told.length === 0)
    return (
      <p class="none" safe>
        {say({ en: `No change in ${counted(series.length, 'day')}.`, zh: `${series.length} 天内没有变化。` })}
      </p>
    )
  return (
    <PlotFrame visit={visit} title={title} series={series} extent={scale} told={told.join(' · ')} written={signed}>
      {axis => <GainsAndLosses values={values} axis={axis} />}
    </PlotFrame>
  )
}

const GainsAndLosses = ({ values, axis }: ShapeProps): Html => (
  <g>
    <Bars kind="gain" values={values.map(value => Math.max(0, value))} axis={axis} />
    <Bars kind="loss" values={values.map(value => Math.min(0, value))} axis={axis} />
  </g>
)

const on = ({ date, value }: Series[number]): string => `${signed(value)} (${date})`
