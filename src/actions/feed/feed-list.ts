import type { View } from '#store/port.ts'
import type { Rows } from '../list/rows.ts'
import type { Options } from '../request/options.ts'
import type { BlockLines } from './follow-branch.ts'
import type { Followed } from './followed.ts'

/** A list and the form of its rows: the same for all readers with the same `name`. */
export type FeedList = {
  readonly name: string
  readonly followed: Followed
  /** Whether rows of blocks that are not irreversible yet are sent, too. */
  readonly isHead: boolean
  readonly rows: (view: View, docs: readonly unknown[]) => Promise<Rows>
  readonly options: Pick<Options, 'numbers'>
}

/** How far the rows of a list were handed out. */
export type Progress = {
  list: FeedList
  /** The first row of the list that was not handed out. */
  next: number
  /** Blocks above with rows, as they were known last: they are not written again. */
  held: readonly BlockLines[]
}
