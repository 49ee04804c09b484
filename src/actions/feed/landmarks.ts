import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { View } from '#store/port.ts'
import type { End } from '../find/blocks-at.ts'

/**
 * How far a reader's rows are of one chain: up to a block that was published, and blocks that were published before it,
 * ascending. They are not those of a later moment: a block that took the place of another one would say that rows still hold.
 * Of a reader who comes again, the ends of the hashes are known (`trail-text.ts`).
 */
export type Trail = { readonly at: End; readonly landmarks: readonly End[] }

/** The highest of some blocks that still belongs to the stored chain; −1: none. */
export const highestOn = async (view: View, ends: readonly End[]): Promise<number> => {
  const below = ends.filter(({ height }) => height <= view.at.height)
  const docs = await view.getMany(
    blocks,
    below.map(({ height }) => blockId(height)),
  )
  const on = below.filter(({ hash }, at) => docs[at]?.hash.endsWith(hash) === true)
  return Math.max(-1, ...on.map(({ height }) => height))
}

/**
 * The landmarks of the height of a view, ascending: those before it and its own end. Between them, the first time (`known`
 * undefined) down to the first block, there are blocks at twice the distance each, so that any block that is taken back has
 * one not far below.
 */
export const landmarksOf = async (view: View, known: readonly End[] | undefined): Promise<readonly End[]> => {
  const { at } = view
  const before = (known ?? []).filter(({ height }) => height < at.height)
  const between = await spread(view, before.at(-1)?.height ?? -1)
  const marks = [...before, ...between, { height: at.height, hash: at.hash }]
  return marks.length <= MOST ? marks : [...marks.slice(0, OLDEST), ...marks.slice(OLDEST - MOST)]
}

/** Further ones take the place of older ones. */
const MOST = 1_000
/** As many as `spread` finds on any chain: they stay. */
const OLDEST = 48

/** Blocks below the end of a view, and above a height. */
const spread = async (view: View, above: number): Promise<readonly End[]> => {
  const heights: number[] = []
  for (let distance = 1; view.at.height - distance > above; distance *= 2)
    heights.push(view.at.height - distance)
  const docs = await view.getMany(blocks, heights.map(blockId))
  return docs.flatMap(doc => (doc === undefined ? [] : [{ height: doc.height, hash: doc.hash }])).toReversed()
}
