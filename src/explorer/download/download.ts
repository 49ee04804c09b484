import type { Ask, CallParameters } from '#actions/ask.ts'
import type { Typed } from '#actions/define.ts'
import type { Rows } from '#actions/list/rows.ts'
import type { Exact } from '#chain/json.ts'
import type { Published } from '#store/port.ts'
import type { Lang } from '../page.ts'

/** A file that a visitor asks for: what its address leaves open, its parameters, and the language of its words. */
export type AskedFile = { readonly id: string; readonly query: URLSearchParams; readonly lang: Lang }

/** The content of a file: the names of its columns, and the cells of each row: texts, and numbers as `Exact`. */
export type Table = {
  readonly heads: readonly string[]
  /** `before` counts the rows of the file that came before these. */
  readonly cellsOf: (rows: Rows, before: number) => readonly (readonly (string | Exact)[])[]
}

/** The list of a page as a file for people, made of a list of the API. */
export type Download = {
  /** Its path; `{id}` stands for one segment. */
  readonly path: string
  readonly action: Typed
  /** Whether a shorter period makes it shorter. */
  readonly isOfTime: boolean
  /** Parameters of its page's address that narrow the list there, and so the file of what is shown. */
  readonly narrowedBy: readonly string[]
  /** The exact name of what it is of, which an address may name in another way; absent: it has one name. */
  readonly exactName?: (ask: Ask, id: string) => Promise<string>
  /** Parameters of the call. */
  readonly given: (asked: AskedFile) => CallParameters
  readonly table: (asked: AskedFile) => Table
  /** The beginning of the file's name: words that are joined by `-`. */
  readonly names: (asked: AskedFile, at: Published) => readonly string[]
}

/** Most rows of a file. Who wants more has a key of the API, and a plan for it. */
export const MOST_ROWS = 10_000

/** The name of a file without its ending, in letters that every system takes. */
export const fileStem = (names: readonly string[]): string =>
  names
    .map(name => name.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, LONGEST_NAME))
    .filter(name => name !== '')
    .join('-')

/** Letters of a word of a file's name: some contracts have longer ones. */
const LONGEST_NAME = 60
