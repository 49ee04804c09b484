/** @jsxImportSource @kitajs/html */
import { grouped } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'

/** A figure of each day, oldest first. */
export type Series = readonly { readonly date: string; readonly value: string }[]

type PlotProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly title: string
  readonly series: Series
  /** A plot that has the page for itself, and shows a day's figure under the pointer. */
  readonly isLarge?: boolean
}

const WIDTH = 600
const HEIGHT = 100

/**
 * A figure day by day, as bars from zero: an SVG that needs no script. Where script runs, a plot that can be read day by
 * day takes its place, made of the same `data-values`.
 */
export const Plot = ({ visit, title, series, isLarge = false }: PlotProps): Html => {
  const [first] = series
  const last = series.at(-1)
  if (first === undefined || last === undefined) return ''
  const most = series.reduce((most, each) => (Number(each.value) > Number(most.value) ? each : most), first)
  const top = visit.say({
    en: `Highest: ${grouped(most.value)} on ${most.date}`,
    zh: `最高：${grouped(most.value)}（${most.date}）`,
  })
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
          en: `${title}, ${first.date} to ${last.date}. ${top}`,
          zh: `${title}，${first.date} 至 ${last.date}。${top}`,
        })}
      >
        <path d={barsOf(series, Number(most.value))} />
      </svg>
      <figcaption>
        <span class="end" safe>
          {first.date}
        </span>
        <span class="top-value" safe>
          {top}
        </span>
        <span class="end" safe>
          {last.date}
        </span>
      </figcaption>
    </figure>
  )
}

/** A bar for each day, in one path; where they are narrow, they touch. */
const barsOf = (series: Series, most: number): string => {
  const step = WIDTH / series.length
  const gap = step > 4 ? step * 0.15 : 0
  const bar = ({ value }: Series[number], at: number): string => {
    const high = most > 0 ? (Number(value) / most) * HEIGHT : 0
    if (high <= 0) return ''
    const left = (at * step + gap / 2).toFixed(1)
    return `M${left} ${HEIGHT}v${(-high).toFixed(1)}h${(step - gap).toFixed(1)}V${HEIGHT}`
  }
  return series.map(bar).join('')
}
