/** @jsxImportSource @kitajs/html */
import type { Axis } from '../format/axis.ts'
import type { Html } from '../page.ts'

const WIDTH = 600
const HEIGHT = 100
/** A bar is no wider, however few there are. */
const WIDEST = WIDTH / 20

/** The coordinates of a plot, which is stretched to the room that it has. */
export const AREA = `0 0 ${WIDTH} ${HEIGHT}`

/** How far below the upper end of a plot a value stands. */
export const shareOf = ({ ticks }: Axis, value: number): number => {
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)]
  return Number((((most - value) / (most - least)) * HEIGHT).toFixed(1))
}

/** Values to draw, one for each step, and their axis. */
export type ShapeProps = { readonly values: readonly number[]; readonly axis: Axis }

/** A bar from zero for each value, in one path; where they are narrow, they touch. */
export const Bars = ({ values, axis, kind }: ShapeProps & { readonly kind?: 'gain' | 'loss' }): Html => {
  const step = WIDTH / values.length
  const width = Math.min(WIDEST, step > 4 ? step * 0.85 : step)
  const zero = shareOf(axis, 0)
  const bar = (value: number, at: number): string => {
    if (value === 0) return ''
    const left = (at * step + (step - width) / 2).toFixed(1)
    return `M${left} ${zero}V${shareOf(axis, value)}h${width.toFixed(1)}V${zero}`
  }
  return <path class={kind} d={values.map(bar).join('')} />
}

/** Levels as they stood at the end of each step, as a line of stairs; filled down to zero where the axis begins there. */
export const Levels = ({ values, axis }: ShapeProps): Html => {
  const step = WIDTH / values.length
  const stairs = values
    .map((value, at) => `${at === 0 ? 'M0 ' : 'V'}${shareOf(axis, value)}H${((at + 1) * step).toFixed(1)}`)
    .join('')
  return (
    <>
      {axis.ticks[0] === 0 ? <path class="under" d={`${stairs}V${HEIGHT}H0Z`} /> : ''}
      <path class="level" d={stairs} />
    </>
  )
}
