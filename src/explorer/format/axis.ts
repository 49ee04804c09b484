import type { Lang } from '../page.ts'

/** The least and the greatest value of a plot. */
export type Extent = { readonly least: number; readonly most: number }

/** The rounded values at which an axis is labelled, lowest first and equally far apart; the first and the last are its ends. */
export type Axis = { readonly ticks: readonly number[]; readonly step: number }

/** Parts into which labels divide an axis, one more or less for the sake of round numbers. */
const PARTS = 3

/** `isCount`: half of a thing is none, so labels are whole numbers. An axis never ends where it begins. */
export const axisOf = ({ least, most }: Extent, isCount: boolean): Axis => {
  const step = roundStep((most - least) / PARTS, isCount)
  const first = Math.floor(tidy(least / step))
  const last = Math.max(Math.ceil(tidy(most / step)), first + 1)
  return { step, ticks: Array.from({ length: last - first + 1 }, (_, at) => tidy((first + at) * step)) }
}

/** Without the last digits of a double, which are not exact. */
const tidy = (value: number): number => Number(value.toPrecision(15))

/** 1, 2 or 5 times a power of ten, at least `raw`. */
const roundStep = (raw: number, isCount: boolean): number => {
  if (!(raw > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = ([1, 2, 5].find(each => tidy(each * power) >= raw) ?? 10) * power
  return isCount ? Math.max(1, step) : tidy(step)
}

/** A change smaller than this part of a level would not be seen on an axis that begins at zero. */
const SEEN = 0.1

/** The extent of an axis for levels such as a supply: from zero, unless all that changes would be too small to see. */
export const extentOfLevels = (values: readonly number[]): Extent => {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const isSeen = least <= 0 || least === most || most - least >= most * SEEN
  return { least: isSeen ? Math.min(0, least) : least, most }
}

/** The labels of an axis, as short as they can be and still differ. */
export const labelsOf = ({ ticks, step }: Axis, lang: Lang): readonly string[] => {
  const highest = Math.max(...ticks.map(Math.abs))
  const digits = Math.floor(Math.log10(highest)) - Math.floor(Math.log10(step)) + 1
  const format = formatWith(lang, Math.min(21, Math.max(1, digits)))
  return ticks.map(tick => format.format(tick).replace('-', '−'))
}

/** Made once: it takes longer than all else about a plot. */
const formats = new Map<string, Intl.NumberFormat>()

const formatWith = (lang: Lang, digits: number): Intl.NumberFormat => {
  const name = `${lang} ${digits}`
  const known = formats.get(name)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat(lang === 'zh' ? 'zh-CN' : 'en', {
    notation: 'compact',
    maximumSignificantDigits: digits,
  })
  formats.set(name, made)
  return made
}

/** Dates that are labelled below a plot, at most. */
const MOST_DATES = 4

/** A date that is labelled below a plot, and its place in the series. */
export type DateLabel = { readonly at: number; readonly text: string }

/**
 * The dates that are labelled: the last one, and others equally far apart. A time has its seconds where two of them are of
 * one minute.
 */
export const datesLabelled = (dates: readonly string[]): readonly DateLabel[] => {
  const { length } = dates
  const stride = Math.max(1, Math.ceil((length - 1) / (MOST_DATES - 1)))
  const places = dates.keys().filter(at => (length - 1 - at) % stride === 0)
  const labels = places.map(at => ({ at, text: dates[at] ?? '' })).toArray()
  const minutes = new Set(labels.map(({ text }) => text.slice(0, 'yyyy-mm-dd hh:mm'.length)))
  const end = minutes.size < labels.length ? undefined : 'yyyy-mm-dd hh:mm'.length
  return labels.map(({ at, text }) => ({ at, text: shortDate(text, end) }))
}

/** The part of a date, a month or a time up to `end` that tells it from its neighbours. */
const shortDate = (date: string, end: number | undefined): string => {
  if (date.length > 'yyyy-mm-dd'.length) return date.slice('yyyy-mm-dd '.length, end)
  return date.length === 'yyyy-mm-dd'.length ? date.slice('yyyy-'.length) : date
}
