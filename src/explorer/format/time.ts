import type { Lang } from '../page.ts'
import { formatCountedNoun } from './amount.ts'

/** An ISO-8601 time in UTC as `2026-11-22 13:04:05`. */
export const formatTime = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

/** Whether a text is a time in the chain's form: nanoseconds since 1970. */
export const isNanoseconds = (text: string): boolean => /^\d{1,19}$/.test(text)

/** Nanoseconds since 1970 as ISO-8601 UTC, truncated to milliseconds. */
export const formatIso = (nanoseconds: string): string =>
  new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString()

const UNITS = [
  [86_400_000 * 365, 'year', '年'],
  [86_400_000 * 30, 'month', '个月'],
  [86_400_000, 'day', '天'],
  [3_600_000, 'hour', '小时'],
  [60_000, 'minute', '分钟'],
  [1_000, 'second', '秒'],
] as const

/** A length of time in its two largest units, such as `6 days 7 hours`; less than two minutes in seconds. */
export function formatDuration(seconds: number, lang: Lang): string {
  const whole = Math.round(seconds)
  if (Math.abs(whole) < 120) return lang === 'zh' ? `${whole} 秒` : `${whole} s`
  const at = PARTS.findIndex(([size]) => Math.abs(whole) >= size)
  let rest = Math.abs(whole)
  const texts = PARTS.slice(at, at + 2).map(([size, en, zh]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? '' : lang === 'zh' ? `${count} ${zh}` : formatCountedNoun(count, en)
  })
  return `${whole < 0 ? '-' : ''}${texts.filter(text => text !== '').join(' ')}`
}

const PARTS = [
  [86_400, 'day', '天'],
  [3_600, 'hour', '小时'],
  [60, 'minute', '分钟'],
  [1, 'second', '秒'],
] as const

/** Whether a time is a day or more ago, so that its date is more useful than its age. */
export const isOld = (iso: string, now: number): boolean => now - Date.parse(iso) >= 86_400_000

/** An age such as `3 minutes ago`, in the largest unit that has passed at least once. */
export function formatAge(iso: string, now: number, lang: Lang): string {
  const ms = now - Date.parse(iso)
  const size = Math.abs(ms)
  const [unit, en, zh] = UNITS.find(([unit]) => size >= unit) ?? [1_000, 'second', '秒']
  const count = Math.floor(size / unit)
  if (lang === 'zh') return `${count} ${zh}${ms < 0 ? '后' : '前'}`
  const text = formatCountedNoun(count, en)
  return ms < 0 ? `in ${text}` : `${text} ago`
}
