/** @jsxImportSource @kitajs/html */
import { signed } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { Bars, PlotFrame, type Series } from './plot-frame.tsx'

type ChangePlotProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly title: string
  readonly series: Series
}

/** The daily change of a figure: bars rise from zero for gains and fall for losses. */
export const ChangePlot = ({ visit, title, series }: ChangePlotProps): Html => {
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
        {say({ en: `No change in ${series.length} days.`, zh: `${series.length} 天内没有变化。` })}
      </p>
    )
  return (
    <PlotFrame visit={visit} title={title} series={series} told={told.join(' · ')}>
      <Bars kind="gain" values={values.map(value => Math.max(0, value))} scale={scale} />
      <Bars kind="loss" values={values.map(value => Math.min(0, value))} scale={scale} />
    </PlotFrame>
  )
}

const on = ({ date, value }: Series[number]): string => `${signed(value)} (${date})`
