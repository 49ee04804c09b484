import type { Ask, CallParameters } from '#actions/ask.ts'
import type { Typed } from '#actions/define.ts'
import type { Rows } from '#actions/list/rows.ts'
import type { Exact } from '#chain/json.ts'
import type { Published } from '#store/port.ts'
import type { Lang } from '../page.ts'
import type { Field } from '../part/form-fields.ts'

/** The request for a file: the open segment of its path, its parameters, and its language. */
export type FileRequest = { readonly id: string; readonly query: URLSearchParams; readonly lang: Lang }

/** The content of a file: column names, and the cells of each row. Cells are texts, or numbers as `Exact`. */
export type Table = {
  readonly heads: readonly string[]
  /** `before`: the number of the file's earlier rows. */
  readonly cellsOf: (rows: Rows, before: number) => readonly (readonly (string | Exact)[])[]
}

/** A list of a page as a file for people, made from a list of the API. */
export type Download = {
  /** The path; `{id}` is a placeholder for one segment. */
  readonly path: string
  readonly action: Typed
  /** Whether the list has a range of time, so that a shorter period makes the file shorter. */
  readonly isOfTime: boolean
  /** Parameters of the page that narrow its list. The file is narrowed in the same way. */
  readonly narrowedBy: readonly string[]
  /** Fields that its address may have. */
  readonly fields: readonly Field[]
  /** The canonical name of the file's subject, if addresses may use several names; absent: there is only one. */
  readonly exactName?: (ask: Ask, id: string) => Promise<string>
  /** Parameters of the call. */
  readonly paramsOf: (request: FileRequest) => CallParameters
  readonly table: (request: FileRequest) => Table
  /** The words at the beginning of the file's name, joined by `-`. */
  readonly names: (request: FileRequest, at: Published) => readonly string[]
}

/** Maximum rows of a file. A longer list needs a key of the API, and a plan. */
export const MOST_ROWS = 10_000

/** The name of a file without its extension, in characters that every file system accepts. */
export const fileStem = (names: readonly string[]): string =>
  names
    .map(name => name.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, LONGEST_NAME))
    .filter(name => name !== '')
    .join('-')

/** Maximum length of a word in a file's name: some contract names are longer. */
const LONGEST_NAME = 60
