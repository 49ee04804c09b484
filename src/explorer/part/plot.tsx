/** @jsxImportSource @kitajs/html */
import { grouped } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { Bars, PlotFrame, type Series } from './plot-frame.tsx'

type PlotProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly title: string
  readonly series: Series
  /** A plot that has the page for itself, and shows a day's figure under the pointer. */
  readonly isLarge?: boolean
}

/** A figure day by day, as bars from zero. */
export const Plot = ({ visit, title, series, isLarge = false }: PlotProps): Html => {
  const [first] = series
  if (first === undefined) return ''
  const most = series.reduce((most, each) => (Number(each.value) > Number(most.value) ? each : most), first)
  const told = visit.say({ en: `Highest: ${grouped(most.value)}`, zh: `最高：${grouped(most.value)}` })
  const on = visit.say({ en: ` on ${most.date}`, zh: `（${most.date}）` })
  const values = series.map(({ value }) => Number(value))
  return (
    <PlotFrame visit={visit} title={title} series={series} told={told} on={on} isLarge={isLarge}>
      <Bars values={values} scale={{ least: 0, most: Number(most.value) }} />
    </PlotFrame>
  )
}
