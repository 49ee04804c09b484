/** @jsxImportSource @kitajs/html */
import type { Axis } from '../format/axis.ts'
import type { Html } from '../page.ts'

const WIDTH = 1200
const HEIGHT = 200
/** A bar is no wider, however few there are. */
const WIDEST = WIDTH / 20

/** The coordinates of a plot, which is stretched to the room that it has: whole numbers, finer than what can be seen. */
export const AREA = `0 0 ${WIDTH} ${HEIGHT}`

/** Lines across a plot at the labels of its axis. */
export const gridOf = (axis: Axis): string =>
  axis.ticks.map(tick => `M0 ${shareOf(axis, tick)}H${WIDTH}`).join('')

/** How far below the upper end of a plot a value stands. */
const shareOf = ({ ticks }: Axis, value: number): number => {
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)]
  return Math.round(((most - value) / (most - least)) * HEIGHT)
}

/** Values to draw, one for each step, and their axis. */
export type ShapeProps = { readonly values: readonly number[]; readonly axis: Axis }

/** A bar from zero for each value, in one path; where they are narrow, they touch. */
export const Bars = ({ values, axis, kind }: ShapeProps & { readonly kind?: 'gain' | 'loss' }): Html => {
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

/** Levels as they stood at the end of each step, as a line of stairs; filled down to zero where the axis begins there. */
export const Levels = ({ values, axis }: ShapeProps): Html => {
  const step = WIDTH / values.length
  const levels = values.map(value => shareOf(axis, value))
  const stairs = levels
    .map((level, at) => {
      // A level that lasts is one line.
      const up = at === 0 ? `M0 ${level}` : level === levels[at - 1] ? '' : `V${level}`
      return level === levels[at + 1] ? up : `${up}H${Math.round((at + 1) * step)}`
    })
    .join('')
  return (
    <>
      {axis.ticks[0] === 0 ? <path class="under" d={`${stairs}V${HEIGHT}H0Z`} /> : ''}
      <path class="level" d={stairs} />
    </>
  )
}
