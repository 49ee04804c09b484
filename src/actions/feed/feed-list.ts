import type { View } from '#store/port.ts'
import type { Rows } from '../list/rows.ts'
import type { Options } from '../request/options.ts'
import type { HeadLines } from './follow-branch.ts'
import type { Followed } from './followed.ts'

/** A list and the format of its rows. All readers with the same `name` share it. */
export type FeedList = {
  readonly name: string
  readonly followed: Followed
  /** Whether rows of blocks that are not yet irreversible are sent, too. */
  readonly isHead: boolean
  readonly rows: (view: View, docs: readonly unknown[]) => Promise<Rows>
  readonly options: Pick<Options, 'numbers'>
}

/** Progress of sending a list's rows. */
export type FeedProgress = {
  list: FeedList
  /** The `seq` of the next row to send. */
  next: number
  /** Head blocks with rows, as last known. Their rows are not serialized again. */
  held: readonly HeadLines[]
}
