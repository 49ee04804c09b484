/** @jsxImportSource @kitajs/html */
import type { Axis } from '../format/axis.ts'
import type { Html } from '../page.ts'

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
const shareOf = ({ ticks }: Axis, value: number): number => {
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)]
  return Math.round(((most - value) / (most - least)) * HEIGHT)
}

/** Values to draw, one for each step, and their axis. */
export type ShapeProps = { readonly values: readonly number[]; readonly axis: Axis }

/** A bar from zero for each value, in one path. Narrow bars touch. */
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

/** The level at the end of each step, as a stepped line; filled down to zero if the axis begins there. */
export const Levels = ({ values, axis }: ShapeProps): Html => {
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
