import type { Shown } from '#head/shown.ts'
import type { Published, View } from '#store/port.ts'
import { aboveOf } from './above.ts'
import type { Found, Group } from './groups.ts'
import { type End, isOn, landmarksOf } from './landmarks.ts'
import { type News, newsOf, unlessBroken } from './news.ts'

/** Blocks that are read at once; after a longer gap each reader reads on by itself, page by page. */
const MOST_BLOCKS = 200
/** Older ones are left out one by one. */
const MOST_LANDMARKS = 1_000

/** What one look finds for each group, or that its list is to be read by itself. */
type Looked = {
  readonly at: Published
  readonly marks: readonly End[] | undefined
  readonly found: readonly (Found | 'unknown')[]
}

type Asked = {
  /** How far the lists were read. */
  readonly since: Published
  readonly groups: readonly Group[]
  /** undefined: none were taken yet. */
  readonly marks: readonly End[] | undefined
  /** The blocks above as they were known right before; undefined: no node is followed. */
  readonly head: Shown | undefined
}

/**
 * The rows that came to some lists since a height, and what is above them now; all 'unknown' where the block of that
 * height was taken back.
 */
export const lookAt = async (view: View, { since, groups, marks, head }: Asked): Promise<Looked> => {
  const { at } = view
  const unknown: Looked = { at, marks, found: groups.map(() => 'unknown') }
  if (!(await isOn(view, since))) return unknown
  const next = { at, marks: await landmarksOf(view, marks, MOST_LANDMARKS) }
  if (at.height - since.height > MOST_BLOCKS) return { ...unknown, ...next }
  const news = at.height === since.height ? [] : await newsOf(view, groups, since.height)
  const above = await aboveOf(view, groups, { since, head })
  const found = await Promise.all(
    groups.map(async (group, index) => {
      const written = await unlessBroken(() => writtenOf(view, group, news[index]))
      return written === 'unknown' ? written : { news: written, above: above[index] }
    }),
  )
  return { ...next, found }
}

const writtenOf = async (
  view: View,
  { shown }: Group,
  news: News | 'unknown' | undefined,
): Promise<Found['news'] | 'unknown'> =>
  news === undefined || news === 'unknown'
    ? news
    : {
        first: news.first,
        heights: news.heights,
        lines: shown.write.lines(await shown.rows(view, news.docs)),
      }
