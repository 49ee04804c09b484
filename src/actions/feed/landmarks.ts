import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { View } from '#store/port.ts'
import type { End } from '../find/blocks-at.ts'

/**
 * Published blocks by which a reader's rows are checked against the chain: the last one, and earlier ones, ascending.
 * They must be as old as the rows. A landmark taken later could be a replacement block, and would confirm rows of the
 * replaced one. For a reader that reconnects, only the ends of the hashes are known (`trail-text.ts`).
 */
export type Trail = { readonly at: End; readonly landmarks: readonly End[] }

/** The highest of these blocks that still belongs to the stored chain; −1: none. */
export async function findHighestStored(view: View, ends: readonly End[]): Promise<number> {
  const below = ends.filter(({ height }) => height <= view.at.height)
  const ids = below.map(({ height }) => blockId(height))
  const docs = await view.getMany(blocks, ids)
  const on = below.filter(({ hash }, at) => docs[at]?.hash.endsWith(hash) === true)
  return Math.max(-1, ...on.map(({ height }) => height))
}

/**
 * The landmarks for the height of a view, ascending: the previous ones and the view's own block. Blocks at
 * doubling distances fill the gap down to the last landmark, or the first time (`known` undefined) down to
 * the first block. Any block that is rolled back thus has a landmark not far below.
 */
export async function updateLandmarks(view: View, known: readonly End[] | undefined): Promise<readonly End[]> {
  const { at } = view
  const before = (known ?? []).filter(({ height }) => height < at.height)
  const between = await spread(view, before.at(-1)?.height ?? -1)
  const marks = [...before, ...between, { height: at.height, hash: at.hash }]
  return marks.length <= MAX ? marks : [...marks.slice(0, OLDEST), ...marks.slice(OLDEST - MAX)]
}

/** Maximum number of landmarks; newer ones replace older ones. */
const MAX = 1_000
/** Number of oldest landmarks that are kept: as many as `spread` finds on any chain. */
const OLDEST = 48

/** Blocks below the block of a view and above a height, at doubling distances. */
async function spread(view: View, above: number): Promise<readonly End[]> {
  const heights: number[] = []
  for (let distance = 1; view.at.height - distance > above; distance *= 2) heights.push(view.at.height - distance)
  const docs = await view.getMany(blocks, heights.map(blockId))
  return docs.flatMap(doc => (doc === undefined ? [] : [{ height: doc.height, hash: doc.hash }])).toReversed()
}
