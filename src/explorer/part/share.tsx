/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/define.ts'
import { formatPercent, sumDecimals } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { None } from './amount.tsx'
import { Owner } from './name.tsx'

type ShareProps = {
  readonly part: string
  readonly whole: string
  /** A text that explains the percentage, if nothing beside it does. */
  readonly tell?: (percent: string) => string
}

/** The share of a part in a whole, in percent and as a bar; `—` if the whole is zero. */
export function Share({ part, whole, tell = keepPercent }: ShareProps): Html {
  const percent = formatPercent(part, whole)
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

const keepPercent = (percent: string): string => percent

/** The share of a part in a whole, as a bar that is hidden from screen readers. */
export const Bar = ({ part, whole }: { readonly part: string; readonly whole: string }): Html => (
  <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect width="100" height="1" />
    <rect width={formatPercent(part, whole) ?? '0'} height="1" />
  </svg>
)

/** A share that is too small for two decimals is not shown as zero. */
const percentText = (percent: string, part: string): string =>
  percent === '0.00' && /[1-9]/.test(part) ? '< 0.01 %' : `${percent} %`

const BANDS = [1, 10, 100] as const
/** Maximum number of owners that `Concentration` uses. */
export const MAX_BANDED = 100

type ConcentrationProps = {
  readonly visit: Pick<Visit, 'say'>
  /** Amounts of the largest owners, largest first: the first `MAX_BANDED`, or all. */
  readonly parts: readonly string[]
  readonly whole: string
  readonly total: number
}

/**
 * The concentration of a whole: the share of the largest, of the ten largest and of the hundred largest, as one bar.
 */
export function Concentration({ visit, parts, whole, total }: ConcentrationProps): Html {
  const bands = buildBands(parts, whole)
  if (bands.length === 0) return ''
  const name = ({ from, to }: Band): string =>
    to === undefined ? visit.say(from > total ? ELSEWHERE : OTHERS) : bandName(visit, from, to)
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
            <data value={band.percent} safe>
              {percentText(band.percent, band.amount)}
            </data>
          </li>
        ))}
      </ul>
    </figure>
  )
}

/** Ranks `from` to `to`, their total amount and its share, and the position of the band in the bar, in percent. */
type Band = {
  readonly from: number
  /** undefined: the rest of the whole. */
  readonly to: number | undefined
  readonly amount: string
  readonly percent: string
  readonly at: number
  readonly width: number
}

function buildBands(parts: readonly string[], whole: string): readonly Band[] {
  const upTo = (count: number): string => sumDecimals(parts.slice(0, count))
  const shareOf = (amount: string): string => formatPercent(amount, whole) ?? '0'
  if (parts.length === 0 || formatPercent('0', whole) === undefined) return []
  const bands: Band[] = []
  const add = (from: number, to: number | undefined): void => {
    const end = to === undefined ? whole : upTo(to)
    const amount = subtractDecimal(end, upTo(from - 1))
    const at = Number(shareOf(upTo(from - 1)))
    // Each share is rounded down separately, so that it is equal to that in the rows.
    bands.push({
      from,
      to,
      amount,
      percent: shareOf(amount),
      at,
      width: Math.max(0, Number(shareOf(end)) - at),
    })
  }
  let from = 1
  for (const most of BANDS) {
    const to = Math.min(most, parts.length)
    if (to < from) continue
    add(from, to)
    from = to + 1
  }
  if (/^[^-]*[1-9]/.test(subtractDecimal(whole, upTo(from - 1)))) add(from, undefined)
  return bands
}

const subtractDecimal = (decimal: string, less: string): string => sumDecimals([decimal, `-${less}`])

/** Names of the rest: amounts of the remaining owners, or amounts of no owner in the list, such as frozen ones. */
const OTHERS: Text = { en: 'All others', zh: '其余' }
const ELSEWHERE: Text = { en: 'Elsewhere', zh: '其他' }

function bandName({ say }: Pick<Visit, 'say'>, from: number, to: number): string {
  if (to === 1) return say({ en: 'Largest', zh: '第 1 名' })
  return from === to
    ? say({ en: `No. ${from}`, zh: `第 ${from} 名` })
    : say({ en: `No. ${from} to ${to}`, zh: `第 ${from} 至 ${to} 名` })
}

type LargestProps = {
  readonly visit: Visit
  /** Largest first. */
  readonly owners: readonly { readonly account: string; readonly amount: string }[]
  readonly whole: string
}

const MAX = 5

/** The largest owners, with their shares of a whole. */
export const Largest = ({ visit, owners, whole }: LargestProps): Html => (
  <ol class="largest">
    {owners.slice(0, MAX).map(({ account, amount }) => (
      <li>
        <Owner visit={visit} id={account} />
        <Share part={amount} whole={whole} />
      </li>
    ))}
  </ol>
)
