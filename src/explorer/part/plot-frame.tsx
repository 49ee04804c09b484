/** @jsxImportSource @kitajs/html */
import { grouped } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'

/** A figure of each day, oldest first. */
export type Series = readonly { readonly date: string; readonly value: string }[]

type FrameProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly title: string
  readonly series: Series
  /** The most telling of the figures, in words. */
  readonly told: string
  /** The day of that figure; it stays on one line. */
  readonly on?: string
  readonly isLarge?: boolean
  /** Bars. */
  readonly children: Html | readonly Html[]
}

const WIDTH = 600
const HEIGHT = 100
/** A bar is no wider, however few days there are; plots.js draws by the same share of the width. */
const WIDEST = WIDTH / 20

/**
 * The frame of every plot of days: an SVG that needs no script, with its first and last day. Where script runs, a plot that
 * can be read day by day replaces it, made from the same `data-values` and with one colour for each of the `Bars`.
 */
export const PlotFrame = ({
  visit,
  title,
  series,
  told,
  on = '',
  isLarge = false,
  children,
}: FrameProps): Html => {
  const [first = { date: '' }] = series
  const last = series.at(-1) ?? first
  return (
    <figure
      class={isLarge ? 'plot large' : 'plot'}
      data-start={first.date}
      data-values={series.map(({ value }) => grouped(value)).join(' ')}
    >
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={visit.say({
          en: `${title}, ${first.date} to ${last.date}. ${told}${on}`,
          zh: `${title}，${first.date} 至 ${last.date}。${told}${on}`,
        })}
      >
        {children as 'safe'}
      </svg>
      <figcaption>
        <span class="end" safe>
          {first.date}
        </span>
        <span class="top-value">
          <span safe>{told}</span>
          <span class="on" safe>
            {on}
          </span>
        </span>
        <span class="end" safe>
          {last.date === first.date ? '' : last.date}
        </span>
      </figcaption>
    </figure>
  )
}

/** The values at the lower and the upper end of a plot. */
type Scale = { readonly least: number; readonly most: number }

type BarsProps = {
  readonly values: readonly number[]
  readonly scale: Scale
  readonly kind?: 'gain' | 'loss'
}

/** A bar from zero for each day that has a value, in one path; where they are narrow, they touch. */
export const Bars = ({ values, scale: { least, most }, kind }: BarsProps): Html => {
  const step = WIDTH / values.length
  const width = Math.min(WIDEST, step > 4 ? step * 0.85 : step)
  const unit = most > least ? HEIGHT / (most - least) : 0
  const zero = (most * unit).toFixed(1)
  const bar = (value: number, at: number): string => {
    const high = value * unit
    if (high === 0) return ''
    const left = (at * step + (step - width) / 2).toFixed(1)
    return `M${left} ${zero}v${(-high).toFixed(1)}h${width.toFixed(1)}V${zero}`
  }
  return <path class={kind} d={values.map(bar).join('')} />
}
