import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { View } from '#store/port.ts'
import type { End } from '../find/blocks-at.ts'

/** The highest of some blocks that still belongs to the stored chain; −1: none. */
export const highestOn = async (view: View, ends: readonly End[]): Promise<number> => {
  const below = ends.filter(({ height }) => height <= view.at.height)
  const docs = await view.getMany(
    blocks,
    below.map(({ height }) => blockId(height)),
  )
  const on = below.filter(({ hash }, at) => docs[at]?.hash === hash)
  return Math.max(-1, ...on.map(({ height }) => height))
}

/**
 * The landmarks of the height of a view, ascending: those before it and its own end. The first time (`known` undefined)
 * also blocks at twice the distance each, down to the first one, so that any block that is taken back has one not far
 * below.
 */
export const landmarksOf = async (view: View, known: readonly End[] | undefined): Promise<readonly End[]> => {
  const { at } = view
  const before = known ?? (await spread(view))
  const marks = [...before.filter(({ height }) => height < at.height), { height: at.height, hash: at.hash }]
  return marks.length <= MOST ? marks : [...marks.slice(0, OLDEST), ...marks.slice(OLDEST + 1)]
}

/** Further ones take the place of older ones. */
const MOST = 1_000
/** As many as `spread` finds on any chain: they stay. */
const OLDEST = 48

const spread = async (view: View): Promise<readonly End[]> => {
  const heights: number[] = []
  for (let distance = 1; distance <= view.at.height; distance *= 2) heights.push(view.at.height - distance)
  const docs = await view.getMany(blocks, heights.map(blockId))
  return docs.flatMap(doc => (doc === undefined ? [] : [{ height: doc.height, hash: doc.hash }])).toReversed()
}
