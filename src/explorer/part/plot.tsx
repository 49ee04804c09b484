/** @jsxImportSource @kitajs/html */
import { grouped } from '../format/amount.ts'
import { extentOfLevels } from '../format/axis.ts'
import type { Html, Visit } from '../page.ts'
import { PlotFrame, type Series } from './plot-frame.tsx'
import { Bars, Levels } from './plot-shapes.tsx'

type PlotProps = {
  readonly visit: Pick<Visit, 'say' | 'lang'>
  /** The title, with the unit if there is one. */
  readonly title: string
  readonly series: Series
  /** Whether the plot is the main content of the page. */
  readonly isLarge?: boolean
}

/** A figure of each day, as bars from zero. */
export const Plot = ({ visit, title, series, isLarge = false }: PlotProps): Html => {
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
export const LevelPlot = ({ visit, title, series, isLarge = false }: PlotProps): Html => {
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
