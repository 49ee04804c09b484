/** @jsxImportSource @kitajs/html */

import type { Step } from '#actions/request/step.ts'
import type { Text } from '#actions/text.ts'
import { decimalsOf, grouped } from '../format/amount.ts'
import { type Axis, axisOf, datesLabelled, type Extent, extentOfLevels, labelsOf } from '../format/axis.ts'
import { STEP_NAMES, type StepRow } from '../format/period.ts'
import type { Html, Visit } from '../page.ts'
import { Count, Day } from './amount.tsx'
import { type Column, More, Rows } from './table.tsx'

const WIDTH = 1200
const HEIGHT = 200
/** Maximum width of a bar, even when there are few. */
const WIDEST = WIDTH / 20

/**
 * The coordinate system of a plot, which is stretched to the available size. Its whole numbers are finer than visible.
 */
export const AREA = `0 0 ${WIDTH} ${HEIGHT}`

/** Lines across a plot at the ticks of its axis. */
export const gridOf = (axis: Axis): string => axis.ticks.map(tick => `M0 ${shareOf(axis, tick)}H${WIDTH}`).join('')

/** The distance of a value from the top of a plot. */
function shareOf({ ticks }: Axis, value: number): number {
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)]
  return Math.round(((most - value) / (most - least)) * HEIGHT)
}

/** Values to draw, one for each step, and their axis. */
export type ShapeProps = { readonly values: readonly number[]; readonly axis: Axis }

/** A bar from zero for each value, in one path. Narrow bars touch. */
export function Bars({ values, axis, kind }: ShapeProps & { readonly kind?: 'gain' | 'loss' }): Html {
  const step = WIDTH / values.length
  const width = Math.min(WIDEST, step > 8 ? step * 0.85 : step)
  const zero = shareOf(axis, 0)
  const bar = (value: number, at: number): string => {
    if (value === 0) return ''
    const left = at * step + (step - width) / 2
    return `M${Math.round(left)} ${zero}V${shareOf(axis, value)}H${Math.round(left + width)}V${zero}`
  }
  return <path class={kind} d={values.map(bar).join('')} />
}

/** The level at the end of each step, as a stepped line; filled down to zero if the axis begins there. */
export function Levels({ values, axis }: ShapeProps): Html {
  const step = WIDTH / values.length
  const levels = values.map(value => shareOf(axis, value))
  const stairs = levels
    .map((level, at) => {
      // A constant level is one line.
      const up = at === 0 ? `M0 ${level}` : level === levels[at - 1] ? '' : `V${level}`
      return level === levels[at + 1] ? up : `${up}H${Math.round((at + 1) * step)}`
    })
    .join('')
  return (
    <>
      {axis.ticks[0] === 0 && <path class="under" d={`${stairs}V${HEIGHT}H0Z`} />}
      <path class="level" d={stairs} />
    </>
  )
}

/**
 * A figure over time, oldest first. `date` is a day (`2026-11-21`; the first one of a week), a month
 * (`2026-11`) or a time (`2026-11-21 10:03:22`). Values are exact decimals.
 */
export type Series = readonly { readonly date: string; readonly value: string }[]

type FrameProps = {
  readonly visit: Pick<Visit, 'say' | 'lang'>
  readonly title: string
  readonly series: Series
  readonly extent: Extent
  /** The most important figure, in words. */
  readonly told: string
  /** The date of that figure, which does not wrap. */
  readonly on?: string
  readonly isLarge?: boolean
  /** Formats a value. */
  readonly written?: (value: string) => string
  /** Draws the values on the axis. */
  readonly children: (axis: Axis) => Html
}

/**
 * The frame of every plot: axes with round labels, the most important figure, and the values for the script,
 * which shows the one at which the visitor points. All of it is rendered on the server, so that the script
 * causes no layout shift.
 */
export function PlotFrame({
  visit,
  title,
  series,
  extent,
  told,
  on = '',
  isLarge = false,
  written = grouped,
  children,
}: FrameProps): Html {
  const axis = axisOf(
    extent,
    series.every(({ value }) => !value.includes('.')),
  )
  const [first = { date: '' }] = series
  const last = series.at(-1) ?? first
  const span = visit.say(
    last.date === first.date
      ? { en: first.date, zh: first.date }
      : { en: `${first.date} to ${last.date}`, zh: `${first.date} 至 ${last.date}` },
  )
  return (
    <figure
      class={isLarge ? 'plot large' : 'plot'}
      data-points={series.map(({ date, value }) => `${date}: ${written(value)}`).join('|')}
    >
      <div class="values" aria-hidden="true">
        {labelsOf(axis, visit.lang)
          .toReversed()
          .map(label => (
            <span safe>{label}</span>
          ))}
      </div>
      <svg class="drawing" viewBox={AREA} preserveAspectRatio="none" role="img" aria-label={`${title}, ${span}`}>
        <desc safe>{`${told}${on}`}</desc>
        <path class="grid" d={gridOf(axis)} />
        {children(axis) as 'safe'}
      </svg>
      <Dates series={series} />
      <figcaption>
        <span class="told">
          <span safe>{told}</span>
          <span class="on" safe>
            {on}
          </span>
        </span>
        <span class="span" safe>
          {span}
        </span>
      </figcaption>
    </figure>
  )
}

/** The labels of the time axis. The first and last labels stay within its ends. */
const Dates = ({ series }: { readonly series: Series }): Html => (
  <svg class="dates" aria-hidden="true">
    {datesLabelled(series.map(({ date }) => date)).map(({ at, text }) => {
      const middle = ((at + 0.5) / series.length) * 100
      const [x, anchor] = middle > 92 ? [100, 'end'] : middle < 8 ? [0, 'start'] : [Number(middle.toFixed(1)), 'middle']
      return (
        <text x={`${x}%`} y="12" text-anchor={anchor} safe>
          {text}
        </text>
      )
    })}
  </svg>
)

type PlotProps = {
  readonly visit: Pick<Visit, 'say' | 'lang'>
  /** The title, with the unit if there is one. */
  readonly title: string
  readonly series: Series
  /** Whether the plot is the main content of the page. */
  readonly isLarge?: boolean
}

/** A figure of each day, as bars from zero. */
export function Plot({ visit, title, series, isLarge = false }: PlotProps): Html {
  const [first] = series
  if (first === undefined) return ''
  const most = series.reduce((most, each) => (Number(each.value) > Number(most.value) ? each : most), first)
  const values = series.map(({ value }) => Number(value))
  return (
    <PlotFrame
      visit={visit}
      title={title}
      series={series}
      extent={{ least: 0, most: Number(most.value) }}
      told={visit.say({ en: `Highest: ${grouped(most.value)}`, zh: `最高：${grouped(most.value)}` })}
      on={visit.say({ en: ` on ${most.date}`, zh: `（${most.date}）` })}
      isLarge={isLarge}
    >
      {axis => <Bars values={values} axis={axis} />}
    </PlotFrame>
  )
}

/** A level at the end of each step, such as a balance, as a line. */
export function LevelPlot({ visit, title, series, isLarge = false }: PlotProps): Html {
  const last = series.at(-1)
  if (last === undefined) return ''
  const values = series.map(({ value }) => Number(value))
  return (
    <PlotFrame
      visit={visit}
      title={title}
      series={series}
      extent={extentOfLevels(values)}
      told={visit.say({ en: `Latest: ${grouped(last.value)}`, zh: `最新：${grouped(last.value)}` })}
      isLarge={isLarge}
    >
      {axis => <Levels values={values} axis={axis} />}
    </PlotFrame>
  )
}

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
export function StepTable<R extends StepRow>({ visit, step, rows, fields }: StepTableProps<R>): Html {
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

function columnOf<R>([en, zh, value]: Field<R>, rows: readonly R[]): Column<R> {
  const decimals = decimalsOf(rows.map(value))
  return [en, zh, row => <Count value={value(row)} decimals={decimals} />, { isNumber: true }]
}

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
export function OverTime<R extends StepRow>(props: OverTimeProps<R>): Html {
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

type ActivityProps = {
  readonly visit: Pick<Visit, 'say' | 'lang' | 'site'>
  /** Oldest first. */
  readonly days: readonly { readonly date: string; readonly complete: boolean; readonly records: number }[]
}

/**
 * The number of records of an account or a contract on each of the last days: a plot, and a table of the days
 * with records; empty if there are none.
 */
export function Activity({ visit, days }: ActivityProps): Html {
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
