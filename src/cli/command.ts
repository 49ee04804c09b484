import type { Log } from '#failure/log.ts'
import type { ExitCode } from './exit-code.ts'
import type { Resolved } from './read-settings.ts'
import type { Screen } from './screen.ts'
import type { SettingName } from './settings.ts'

/** What a command gets. */
export type Call = Resolved & {
  /** Of this program. */
  readonly version: string
  /** What stands after the command's name and is not a flag; as many as `words` says. */
  readonly words: readonly string[]
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal
  /** One line of the answer, on stdout. */
  readonly out: (line: string) => void
  readonly screen: Screen
  readonly log: Log
}

export type Command = {
  /** One or two words: `load`, `keys add`. */
  readonly name: string
  /** Names of what it must be given, such as NAME. */
  readonly words: readonly string[]
  /** One line for lists. */
  readonly summary: string
  /** What it promises, for its `--help`: short paragraphs. */
  readonly about: readonly string[]
  readonly settings: readonly SettingName[]
  readonly examples: readonly string[]
  readonly run: (call: Call) => Promise<ExitCode>
}
