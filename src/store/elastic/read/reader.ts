import type { Hints } from '#store/ranking-start.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import type { Names } from '../schema/names.ts'
import type { Proving } from './proved-docs.ts'
import type { Remembered } from './state-cache.ts'

/** What a view reads with. */
export type Reader = Proving & {
  readonly names: Names
  readonly published: PublishedMeta
  /** Shared by all views. */
  readonly hints: Hints
  /** Cached state of the published batch. */
  readonly remembered: Remembered
  /** Called when nothing is found where a lost document may have been. */
  readonly onNothing: () => void
}
