import { withoutSecrets } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Whether lines of a level are written where `least` is the lowest one that is. */
export const isWritten = (level: LogOptions['level'], least: LogOptions['level']): boolean =>
  LEVELS.indexOf(level) >= LEVELS.indexOf(least)

export type LogOptions = {
  readonly level: (typeof LEVELS)[number]
  readonly format: 'plain' | 'json'
  /** Takes one line without its end. */
  readonly write: (line: string) => void
  /** Absent: the clock of this machine. */
  readonly now?: () => Date
}

/** Lines of a constant sentence and its values, credentials and keys taken out. */
export const createLog = ({ level: least, format, write, now = () => new Date() }: LogOptions): Log => {
  return (level, message, fields = {}) => {
    if (!isWritten(level, least)) return
    const clean = Object.entries(fields).map(
      ([name, value]) => [name, typeof value === 'string' ? withoutSecrets(value) : value] as const,
    )
    const time = now().toISOString()
    if (format === 'json') {
      write(JSON.stringify({ time, level, message: withoutSecrets(message), ...Object.fromEntries(clean) }))
      return
    }
    const values = clean.map(([name, value]) => ` ${name}=${plainValue(value)}`).join('')
    write(`${time} ${level.padEnd(5)} ${withoutSecrets(message)}${values}`)
  }
}

/** Quoted when it has spaces, quotes or anything that is not printable, so that a line stays one line. */
const plainValue = (value: string | number): string =>
  typeof value === 'number' || /^[^\s"=\p{C}]+$/u.test(value) ? String(value) : JSON.stringify(value)
