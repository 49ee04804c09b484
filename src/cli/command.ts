import type { Log } from '#failure/log.ts'
import type { ExitCode } from './exit-code.ts'
import type { Environment, Resolved } from './read-settings.ts'
import type { SettingName } from './settings.ts'
import type { Screen } from './stderr.ts'

/** The process, as commands see it. */
export type Process = {
  /** Version of this program. */
  readonly version: string
  readonly environment: Environment
  /** Writes one line of output to stdout. */
  readonly out: (line: string) => void
  readonly screen: Screen
  /** Number of log lines dropped so far. */
  readonly droppedLines: () => number
  /** Returns a signal that aborts when the process is asked to stop; called only when a command actually runs. */
  readonly stop: () => AbortSignal
  /** The program of the threads that prove blocks. */
  readonly provingProgram: URL
  /** The program of the thread that writes to an SQLite store. */
  readonly writingProgram: URL
}

/** The arguments of a command. */
export type CommandCall = Resolved &
  Omit<Process, 'environment' | 'stop'> & {
    /** The words after the command's name that are not flags, one for each of the command's `words`. */
    readonly words: readonly string[]
    /** Aborts when the process is asked to stop. */
    readonly signal: AbortSignal
    readonly log: Log
  }

export type Command = {
  /** One or two words: `load`, `keys add`. */
  readonly name: string
  /** Names of the required arguments, such as NAME; absent: it has none. */
  readonly words?: readonly string[]
  /** One line for lists of commands. */
  readonly summary: string
  /** The text of its `--help`: short paragraphs. */
  readonly about: readonly string[]
  readonly settings: readonly SettingName[]
  readonly examples: readonly string[]
  readonly run: (call: CommandCall) => Promise<ExitCode>
}
