/** @jsxImportSource @kitajs/html */
import { percentOf, sumOf } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { None } from './none.tsx'

type ShareProps = {
  readonly part: string
  readonly whole: string
  /** Says what the percentage is of, where nothing beside it does. */
  readonly tell?: (percent: string) => string
}

/** The share of a part in a whole, in percent and as a bar; `—` where there is no whole. */
export const Share = ({ part, whole, tell = same }: ShareProps): Html => {
  const percent = percentOf(part, whole)
  return percent === undefined ? (
    <None />
  ) : (
    <span class="portion">
      <data value={percent} safe>
        {tell(percentText(percent, part))}
      </data>
      <Bar part={part} whole={whole} />
    </span>
  )
}

const same = (percent: string): string => percent

/** The share of a part in a whole, as a bar that screen readers skip. */
export const Bar = ({ part, whole }: { readonly part: string; readonly whole: string }): Html => (
  <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect width="100" height="1" />
    <rect width={percentOf(part, whole) ?? '0'} height="1" />
  </svg>
)

/** A share that is too small for two decimals is not shown as zero. */
const percentText = (percent: string, part: string): string =>
  percent === '0.00' && /[1-9]/.test(part) ? '< 0.01 %' : `${percent} %`

/** How many of the largest are in a band together with those of the bands before it. */
const BANDS = [1, 10, 100] as const
/** The most rows that `Concentration` looks at. */
export const MOST_BANDED = 100

type ConcentrationProps = {
  readonly visit: Pick<Visit, 'say'>
  /** Amounts of the largest owners, largest first: the first `MOST_BANDED`, or all. */
  readonly parts: readonly string[]
  readonly whole: string
  /** How many there are in all. */
  readonly total: number
}

/** In how few hands a whole is: the share of the largest, of the ten largest and of the hundred largest, as one bar. */
export const Concentration = ({ visit, parts, whole, total }: ConcentrationProps): Html => {
  const bands = bandsOf(parts, whole, total)
  if (bands.length === 0) return ''
  const name = ({ from, to }: Band): string => bandName(visit, { from, to, total })
  return (
    <figure class="bands">
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {bands.map(({ at, width }, number) => (
          <rect class={`band${number}`} x={at.toFixed(2)} width={width.toFixed(2)} height="4" />
        ))}
      </svg>
      <ul>
        {bands.map((band, number) => (
          <li>
            <i class={`band${number}`}></i>
            <span safe>{name(band)}</span>{' '}
            <data value={band.width.toFixed(2)} safe>
              {`${band.width.toFixed(2)} %`}
            </data>
          </li>
        ))}
      </ul>
    </figure>
  )
}

/** Ranks `from` to `to` and what they have together, in percent, where the band begins at `at`. */
type Band = { readonly from: number; readonly to: number; readonly at: number; readonly width: number }

const bandsOf = (parts: readonly string[], whole: string, total: number): readonly Band[] => {
  const upTo = (count: number): number => Number(percentOf(sumOf(parts.slice(0, count)), whole) ?? 0)
  if (parts.length === 0 || percentOf('0', whole) === undefined) return []
  const bands: Band[] = []
  let [from, at] = [1, 0]
  for (const most of BANDS) {
    const to = Math.min(most, parts.length)
    if (to < from) continue
    bands.push({ from, to, at, width: Math.max(0, upTo(to) - at) })
    from = to + 1
    at = upTo(to)
  }
  return at < 100 ? [...bands, { from, to: total, at, width: 100 - at }] : bands
}

const bandName = (
  { say }: Pick<Visit, 'say'>,
  { from, to, total }: { readonly from: number; readonly to: number; readonly total: number },
): string => {
  if (from > total) return say({ en: 'Elsewhere', zh: '其他' })
  if (to === 1) return say({ en: 'Largest', zh: '第 1 名' })
  return from === to
    ? say({ en: `No. ${from}`, zh: `第 ${from} 名` })
    : say({ en: `No. ${from} to ${to}`, zh: `第 ${from} 至 ${to} 名` })
}
