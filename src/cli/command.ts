import type { Log } from '#failure/log.ts'
import type { ExitCode } from './exit-code.ts'
import type { Resolved } from './read-settings.ts'
import type { SettingName } from './settings.ts'
import type { Screen } from './stderr.ts'

/** The arguments of a command. */
export type Call = Resolved & {
  /** Of this program. */
  readonly version: string
  /** The words after the command's name that are not flags; as many as the command's `words`. */
  readonly words: readonly string[]
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal
  /** One line of the answer, on stdout. */
  readonly out: (line: string) => void
  readonly screen: Screen
  readonly log: Log
  /** Lines of the log that were dropped so far. */
  readonly droppedLines: () => number
  /** The program of a thread that serves. */
  readonly threadProgram: URL
  /** The program of a thread that proves blocks. */
  readonly provingProgram: URL
  /** The program of a thread that writes to an SQLite store. */
  readonly writingProgram: URL
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
