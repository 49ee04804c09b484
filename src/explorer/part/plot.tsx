/** @jsxImportSource @kitajs/html */

import type { Text } from '#actions/define.ts'
import type { Step } from '#actions/request/range.ts'
import { formatCountedNoun, formatGrouped, formatSigned } from '../format/amount.ts'
import {
  type Axis,
  computeLevelExtent,
  createAxis,
  type Extent,
  formatAxisLabels,
  selectDateLabels,
} from '../format/axis.ts'
import { STEP_NAMES, type StepRow } from '../format/period.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Day } from './amount.tsx'
import { alignNumbers, FoldedRows } from './list.tsx'
import { Note } from './section.tsx'

const WIDTH = 1200
const HEIGHT = 200
/** Maximum width of a bar, even when there are few. */
const WIDEST = WIDTH / 20

/** The distance of a value from the top of a plot. */
function computeTopShare({ ticks }: Axis, value: number): number {
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)]
  return Math.round(((most - value) / (most - least)) * HEIGHT)
}

/** Values to draw, one for each step, and their axis. */
type ShapeProps = { readonly values: readonly number[]; readonly axis: Axis }

/** A bar from zero for each value, in one path. Narrow bars touch. */
function Bars({ values, axis, kind }: ShapeProps & { readonly kind?: 'gain' | 'loss' }): Html {
  const step = WIDTH / values.length
  const width = Math.min(WIDEST, step > 8 ? step * 0.85 : step)
  const zero = computeTopShare(axis, 0)
  const bar = (value: number, at: number): string => {
    if (value === 0) return ''
    const left = at * step + (step - width) / 2
    return `M${Math.round(left)} ${zero}V${computeTopShare(axis, value)}H${Math.round(left + width)}V${zero}`
  }
  return <path class={kind} d={values.map(bar).join('')} />
}

/** The level at the end of each step, as a stepped line; filled down to zero if the axis begins there. */
function Levels({ values, axis }: ShapeProps): Html {
  const step = WIDTH / values.length
  const levels = values.map(value => computeTopShare(axis, value))
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

type PlotProps = {
  readonly visit: Pick<Visit, 'say' | 'lang'>
  /** The title, with the unit if there is one. */
  readonly title: Text
  /**
   * A figure over time, oldest first. `date` is a day (`2026-11-21`; the first one of a week), a month
   * (`2026-11`) or a time (`2026-11-21 10:03:22`). Values are exact decimals.
   */
  readonly series: readonly { readonly date: string; readonly value: string }[]
  /** Whether the plot is the main content of the page. */
  readonly isLarge?: boolean
}

type Drawn = {
  readonly extent: Extent
  /** The most important figure, in words. */
  readonly highlight: Text
  /** The date of that figure, which does not wrap. */
  readonly on?: Text
  readonly written?: (value: string) => string
  readonly Shape: (props: ShapeProps) => Html
}

/**
 * Every plot: axes with round labels, the most important figure, and the values for the script, which shows the one at
 * which the visitor points. All of it is rendered on the server, so that the script causes no layout shift.
 */
function drawPlot(
  { visit, title, series, isLarge = false }: PlotProps,
  { extent, highlight, on = { en: '', zh: '' }, written = formatGrouped, Shape }: Drawn,
): Html {
  const axis = createAxis(
    extent,
    series.every(({ value }) => !value.includes('.')),
  )
  const [first, last] = [series[0]?.date ?? '', series.at(-1)?.date ?? '']
  const span = last === first ? first : visit.say({ en: `${first} to ${last}`, zh: `${first} 至 ${last}` })
  return (
    <figure
      class={isLarge ? 'plot large' : 'plot'}
      data-points={series.map(({ date, value }) => `${date}: ${written(value)}`).join('|')}
    >
      <div class="values" aria-hidden="true">
        {formatAxisLabels(axis, visit.lang)
          .toReversed()
          .map(label => (
            <span safe>{label}</span>
          ))}
      </div>
      {/* The drawing is stretched to the available size. Its whole numbers are finer than visible. */}
      <svg
        class="drawing"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${visit.say(title)}, ${span}`}
      >
        <desc safe>{`${visit.say(highlight)}${visit.say(on)}`}</desc>
        <path class="grid" d={axis.ticks.map(tick => `M0 ${computeTopShare(axis, tick)}H${WIDTH}`).join('')} />
        <Shape values={series.map(({ value }) => Number(value))} axis={axis} />
      </svg>
      <Dates series={series} />
      <figcaption>
        <span class="told">
          <span safe>{visit.say(highlight)}</span>
          <span class="on" safe>
            {visit.say(on)}
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
const Dates = ({ series }: Pick<PlotProps, 'series'>): Html => (
  <svg class="dates" aria-hidden="true">
    {selectDateLabels(series.map(({ date }) => date)).map(({ at, text }) => {
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

/** A figure of each day, as bars from zero. */
export function Plot(props: PlotProps): Html {
  const [first, ...others] = props.series
  if (first === undefined) return ''
  const most = others.reduce((most, each) => (Number(each.value) > Number(most.value) ? each : most), first)
  const shown = formatGrouped(most.value)
  return drawPlot(props, {
    extent: { least: 0, most: Number(most.value) },
    highlight: { en: `Highest: ${shown}`, zh: `最高：${shown}` },
    on: { en: ` on ${most.date}`, zh: `（${most.date}）` },
    Shape: Bars,
  })
}

/** A level at the end of each step, such as a balance, as a line. */
export function LevelPlot(props: PlotProps): Html {
  const last = props.series.at(-1)
  if (last === undefined) return ''
  const shown = formatGrouped(last.value)
  return drawPlot(props, {
    extent: computeLevelExtent(props.series.map(({ value }) => Number(value))),
    highlight: { en: `Latest: ${shown}`, zh: `最新：${shown}` },
    Shape: Levels,
  })
}

/** The daily change of a figure: bars rise from zero for gains and fall for losses. */
export function ChangePlot(props: PlotProps): Html {
  const { visit, series } = props
  const values = series.map(({ value }) => Number(value))
  const extent = { least: Math.min(0, ...values), most: Math.max(0, ...values) }
  const describe = (value: number): string => {
    const found = series[values.indexOf(value)]
    return value === 0 || found === undefined ? '' : `${formatSigned(found.value)} (${found.date})`
  }
  const [gain, loss] = [describe(extent.most), describe(extent.least)]
  if (gain === '' && loss === '')
    return (
      <Note
        visit={visit}
        text={{ en: `No change in ${formatCountedNoun(series.length, 'day')}.`, zh: `${series.length} 天内没有变化。` }}
      />
    )
  const between = gain === '' || loss === '' ? '' : ' · '
  const [en, zh] = [
    `${gain && `Largest gain: ${gain}`}${between}${loss && `Largest loss: ${loss}`}`,
    `${gain && `最大增加：${gain}`}${between}${loss && `最大减少：${loss}`}`,
  ]
  return drawPlot(props, {
    extent,
    highlight: { en, zh },
    written: formatSigned,
    Shape: ({ values, axis }) => (
      <g>
        <Bars kind="gain" values={values.map(value => Math.max(0, value))} axis={axis} />
        <Bars kind="loss" values={values.map(value => Math.min(0, value))} axis={axis} />
      </g>
    ),
  })
}

/** A figure of each step: the head of its column, and the title of its plot with the unit if there is one. */
type Figure<R> = readonly [en: string, zh: string, value: (row: R) => string, title?: Text]

type FigurePlotProps<R> = {
  readonly visit: Pick<Visit, 'say' | 'lang'>
  readonly title: Text
  readonly rows: readonly R[]
  readonly value: (row: R) => string
  readonly Plotted: typeof Plot
}

/** A plot of one of several figures, with its title. */
export function FigurePlot<R extends { readonly date: string }>(props: FigurePlotProps<R>): Html {
  const { visit, title, rows, value, Plotted } = props
  return (
    <div class="over-time">
      <h3 safe>{visit.say(title)}</h3>
      <Plotted visit={visit} title={title} series={rows.map(row => ({ date: row.date, value: value(row) }))} />
    </div>
  )
}

type StepTableProps<R> = {
  readonly visit: Pick<Visit, 'say' | 'site'>
  readonly step: Step
  /** Oldest first, like in the plot. */
  readonly rows: readonly R[]
  readonly figures: readonly Figure<R>[]
}

/** Maximum rows of a plot's table on a page. */
const MAX = 12

/** A collapsed table with the exact figures of a plot, newest first. */
export function StepTable<R extends StepRow>({ visit, step, rows, figures }: StepTableProps<R>): Html {
  const { title, head } = STEP_NAMES[step]
  const newest = rows.toReversed()
  const shown = newest.slice(0, MAX)
  return (
    <FoldedRows
      visit={visit}
      title={title}
      rows={newest}
      most={MAX}
      isNarrow
      columns={[
        [head.en, head.zh, row => <Day visit={visit} day={row} />],
        ...figures.map(([en, zh, value]) => alignNumbers(shown, [en, zh, value])),
      ]}
    />
  )
}

type OverTimeProps<R> = StepTableProps<R> & Props<{ Plotted: typeof Plot }>

/** A plot of each figure with a title, and a collapsed table of all figures. */
export const OverTime = <R extends StepRow>({ Plotted, ...table }: OverTimeProps<R>): Html => (
  <>
    {table.figures.map(([, , value, title]) =>
      title === undefined ? (
        ''
      ) : (
        <FigurePlot visit={table.visit} title={title} rows={table.rows} value={value} Plotted={Plotted} />
      ),
    )}
    <StepTable {...table} />
  </>
)

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
  const title = { en: 'Records per day (UTC)', zh: '每日记录数（UTC）' }
  return (
    <div class="activity">
      <h3 safe>{visit.say(title)}</h3>
      <Plot visit={visit} title={title} series={days.map(({ date, records }) => ({ date, value: String(records) }))} />
      <StepTable
        visit={visit}
        step="day"
        rows={days.filter(({ records }) => records > 0)}
        figures={[['Records', '记录数', ({ records }) => String(records)]]}
      />
    </div>
  )
}
