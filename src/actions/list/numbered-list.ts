import type { BlockAbove } from '#head/shown.ts'
import type { Moment, View } from '#store/port.ts'
import type { Followed } from '../feed/followed.ts'

/** A row of a list with its number there: its ordinal, from 1 in chain order, which never changes. */
export type Numbered<D> = {
  readonly seq: number
  readonly doc: D
  /** Its block, where that is not irreversible yet: the number may still become another one. */
  readonly above?: BlockAbove
}

/** A list whose rows have ordinals from 1 in chain order. */
export type NumberedList<D> = {
  readonly count: number
  /** How many of them are irreversible, and the blocks of the others; absent: all are. */
  readonly above?: { readonly stored: number; readonly blockOf: (ordinal: number) => BlockAbove }
  /** No row is later; absent: the height of the answer. */
  readonly end?: Moment
  /** When the rows with some ordinals were made (ascending, each once). */
  readonly moments: (view: View, ordinals: readonly number[]) => Promise<readonly Moment[]>
  /** Rows `first` … `last`, ascending. */
  readonly docs: (view: View, first: number, last: number) => Promise<readonly D[]>
  readonly followed: Followed
  /** The id of a row's document. */
  readonly idOf: (doc: D) => string
}
