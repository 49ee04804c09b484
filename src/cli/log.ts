import { Failure, type Log, removeSecrets } from '#failure/failure.ts'
import { isSystemError, toExitCode } from './command.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

type LogOptions = {
  readonly level: (typeof LEVELS)[number]
  readonly format: 'plain' | 'json'
  /** Writes one line, given without its line end. */
  readonly write: (line: string) => void
  /** Source of the time; the machine's clock by default. */
  readonly now?: () => Date
}

/** A log whose lines have a constant sentence and its values, without credentials and keys. */
export function createLog({ level: least, format, write, now = () => new Date() }: LogOptions): Log {
  const lowest = LEVELS.indexOf(least)
  return (level, message, fields = {}) => {
    if (LEVELS.indexOf(level) < lowest) return
    const clean = Object.entries(fields).map(
      ([name, value]) => [name, typeof value === 'string' ? removeSecrets(value) : value] as const,
    )
    const time = now().toISOString()
    if (format === 'json') {
      write(JSON.stringify({ time, level, message: removeSecrets(message), ...Object.fromEntries(clean) }))
      return
    }
    const values = clean.map(([name, value]) => ` ${name}=${plainValue(value)}`).join('')
    write(`${time} ${level.padEnd(5)} ${removeSecrets(message)}${values}`)
  }
}

/** A value, quoted when it has spaces, quotes or unprintable characters, so that the log line stays one line. */
const plainValue = (value: string | number): string =>
  typeof value === 'number' || /^[^\s"=\p{C}]+$/u.test(value) ? String(value) : JSON.stringify(value)

/**
 * How a command line, or else the environment, tells the process to write to stderr, before its settings are read:
 * reading them may be what fails.
 */
export function readStderrForm(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { readonly format: LogOptions['format']; readonly isDebug: boolean } {
  const find = (flag: string, variable: string): string | undefined =>
    new RegExp(`(?:^| )--${flag}[= ](\\S+)`).exec(args.join(' '))?.[1] ?? environment[variable]
  return {
    format: find('log-format', 'IOSTLENS_LOG_FORMAT') === 'json' ? 'json' : 'plain',
    isDebug: find('log-level', 'IOSTLENS_LOG_LEVEL') === 'debug',
  }
}

/** The lines about the error that ends the process; one line for a log collector. The stack only at log level debug. */
export function describeEnd(error: unknown, { format, isDebug }: ReturnType<typeof readStderrForm>): readonly string[] {
  const { message, help } = explainError(error)
  const stack = isDebug && error instanceof Error ? error.stack : undefined
  if (format === 'plain')
    return [
      `iostlens: ${message}`,
      ...(help === undefined ? [] : [`  ${help}`]),
      ...(stack === undefined ? [] : [stack]),
    ]
  const kind = error instanceof Failure ? { kind: error.kind } : {}
  const remedy = help === undefined ? {} : { help }
  const trace = stack === undefined ? {} : { stack }
  return [formatJsonLine('error', message, { ...kind, ...remedy, exit_code: toExitCode(error), ...trace })]
}

/** The line about log lines that were dropped, with its line end. */
export function describeDropped(count: number, { format }: Pick<LogOptions, 'format'>): string {
  return format === 'plain'
    ? `${count} log lines were dropped because they were read too slowly.\n`
    : `${formatJsonLine('warn', 'Log lines were dropped because they were read too slowly.', { count })}\n`
}

function formatJsonLine(level: 'warn' | 'error', message: string, fields: Readonly<Record<string, string | number>>) {
  let text = ''
  const write = (line: string): void => {
    text = line
  }
  createLog({ level: 'debug', format: 'json', write })(level, message, fields)
  return text
}

function explainError(error: unknown): { readonly message: string; readonly help?: string | undefined } {
  if (error instanceof Failure) return error
  // Its message names the call and the file.
  if (isSystemError(error)) return { message: `${error.message}.` }
  if (!(error instanceof Error)) return { message: String(error) }
  const help = "This is a bug in iostlens. '--log-level debug' prints where it happened."
  return { message: `Internal error: ${error.message}`, help }
}
