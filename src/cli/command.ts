import type { Log } from '#failure/log.ts'
import type { ExitCode } from './exit-code.ts'
import type { Environment, Resolved } from './read-settings.ts'
import type { SettingName } from './settings.ts'
import type { Screen } from './stderr.ts'

/** The process, as every command gets it. */
export type Process = {
  /** Of this program. */
  readonly version: string
  readonly environment: Environment
  /** One line of the answer, on stdout. */
  readonly out: (line: string) => void
  readonly screen: Screen
  /** Lines of the log that were dropped so far. */
  readonly droppedLines: () => number
  /** Aborts when the process is asked to stop; called once a command really runs. */
  readonly stop: () => AbortSignal
  /** The program of a thread that serves. */
  readonly threadProgram: URL
  /** The program of a thread that proves blocks. */
  readonly provingProgram: URL
  /** The program of a thread that writes to an SQLite store. */
  readonly writingProgram: URL
}

/** The arguments of a command. */
export type Call = Resolved &
  Omit<Process, 'environment' | 'stop'> & {
    /** The words after the command's name that are not flags; as many as the command's `words`. */
    readonly words: readonly string[]
    /** Aborts when the process is asked to stop. */
    readonly signal: AbortSignal
    readonly log: Log
  }

export type Command = {
  /** One or two words: `load`, `keys add`. */
  readonly name: string
  /** Names of what it must be given, such as NAME. */
  readonly words: readonly string[]
  /** One line for lists. */
  readonly summary: string
  /** The text of its `--help`: short paragraphs. */
  readonly about: readonly string[]
  readonly settings: readonly SettingName[]
  readonly examples: readonly string[]
  readonly run: (call: Call) => Promise<ExitCode>
}
