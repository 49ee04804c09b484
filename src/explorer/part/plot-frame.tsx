/** @jsxImportSource @kitajs/html */

import { grouped } from '../format/amount.ts'
import { type Axis, axisOf, datesLabelled, type Extent, labelsOf } from '../format/axis.ts'
import type { Html, Visit } from '../page.ts'
import { AREA, gridOf } from './plot-shapes.tsx'

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
export const PlotFrame = ({
  visit,
  title,
  series,
  extent,
  told,
  on = '',
  isLarge = false,
  written = grouped,
  children,
}: FrameProps): Html => {
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
