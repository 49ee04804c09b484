import { withoutSecrets } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Whether lines of a level are written when `least` is the minimum level. */
export const isWritten = (level: LogOptions['level'], least: LogOptions['level']): boolean =>
  LEVELS.indexOf(level) >= LEVELS.indexOf(least)

export type LogOptions = {
  readonly level: (typeof LEVELS)[number]
  readonly format: 'plain' | 'json'
  /** Writes one line, given without its line end. */
  readonly write: (line: string) => void
  /** Source of the time; the machine's clock by default. */
  readonly now?: () => Date
}

/** A log whose lines have a constant sentence and its values, without credentials and keys. */
export function createLog({ level: least, format, write, now = () => new Date() }: LogOptions): Log {
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

/** A value, quoted when it has spaces, quotes or unprintable characters, so that the log line stays one line. */
const plainValue = (value: string | number): string =>
  typeof value === 'number' || /^[^\s"=\p{C}]+$/u.test(value) ? String(value) : JSON.stringify(value)
