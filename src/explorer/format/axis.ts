import type { Lang } from '../page.ts'

export type Extent = { readonly least: number; readonly most: number }

/**
 * The ticks of an axis: rounded values, lowest first and equally spaced. The first and the last are the ends
 * of the axis.
 */
export type Axis = { readonly ticks: readonly number[]; readonly step: number }

/** Intervals of an axis, one more or less for the sake of round numbers. */
const PARTS = 3

/** `isCount`: ticks are whole numbers, since a count has no fractions. The ends of an axis always differ. */
export function createAxis({ least, most }: Extent, isCount: boolean): Axis {
  const step = roundStep((most - least) / PARTS, isCount)
  const first = Math.floor(tidy(least / step))
  const last = Math.max(Math.ceil(tidy(most / step)), first + 1)
  return { step, ticks: Array.from({ length: last - first + 1 }, (_, at) => tidy((first + at) * step)) }
}

/** Rounds away the inexact last digits of a double. */
const tidy = (value: number): number => Number(value.toPrecision(15))

/** The smallest step of 1, 2 or 5 times a power of ten that is at least `raw`. */
function roundStep(raw: number, isCount: boolean): number {
  if (!(raw > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = ([1, 2, 5].find(each => tidy(each * power) >= raw) ?? 10) * power
  return isCount ? Math.max(1, step) : tidy(step)
}

/** The smallest share of a level that is visible as a change on an axis from zero. */
const SEEN = 0.1

/** The extent of an axis for levels such as a supply: from zero, unless the changes would be too small to see. */
export function computeLevelExtent(values: readonly number[]): Extent {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const isSeen = least <= 0 || least === most || most - least >= most * SEEN
  return { least: isSeen ? Math.min(0, least) : least, most }
}

/** Maximum digits of a shortened label: a longer one is written in full. */
const SHORT = 3

/** The labels of an axis, such as `20K`; in full where that would have many digits. */
export function formatAxisLabels({ ticks, step }: Axis, lang: Lang): readonly string[] {
  const highest = Math.max(...ticks.map(Math.abs))
  const digits = Math.floor(Math.log10(highest)) - Math.floor(Math.log10(step)) + 1
  const format = createNumberFormat(lang, Math.min(21, Math.max(1, digits)))
  return ticks.map(tick => format.format(tick).replace('-', '−'))
}

/** Cached: making a format takes longer than the rest of a plot. */
const formats = new Map<string, Intl.NumberFormat>()

function createNumberFormat(lang: Lang, digits: number): Intl.NumberFormat {
  const name = `${lang} ${digits}`
  const known = formats.get(name)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat(lang === 'zh' ? 'zh-CN' : 'en', {
    notation: digits <= SHORT ? 'compact' : 'standard',
    maximumSignificantDigits: digits,
  })
  formats.set(name, made)
  return made
}

const MAX_DATES = 4

/** A date label below a plot, and its index in the series. */
type DateLabel = { readonly at: number; readonly text: string }

/**
 * The labels of steps of equal length: the last date, and others at equal distances. Times are not at equal distances,
 * so they are numbered, oldest first.
 */
export function selectDateLabels(dates: readonly string[]): readonly DateLabel[] {
  const { length } = dates
  const stride = Math.max(1, Math.ceil((length - 1) / (MAX_DATES - 1)))
  const places = dates.keys().filter(at => (length - 1 - at) % stride === 0)
  return places.map(at => ({ at, text: formatTickLabel(dates[at] ?? '', at) })).toArray()
}

/** A day without its year, a month, or the number of a time. */
function formatTickLabel(date: string, at: number): string {
  if (date.length > 'yyyy-mm-dd'.length) return String(at + 1)
  return date.length === 'yyyy-mm-dd'.length ? date.slice('yyyy-'.length) : date
}
