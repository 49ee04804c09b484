import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId, parsePosition } from '#indices/list.ts'
import { missingData } from '#store/failures.ts'
import type { Published, View } from '#store/port.ts'
import { type RowId, rowIdText } from '../request/row-id.ts'
import type { Numbered } from './listing.ts'

/** Published blocks by their heights, in the same order. Throws 'damaged' if one is missing. */
export async function readBlocks(view: View, heights: readonly number[]): Promise<readonly BlockDoc[]> {
  const docs = heights.length === 0 ? [] : await view.getMany(blocks, heights.map(blockId))
  return docs.map((doc, at) => doc ?? throwMissing(`Block ${heights[at]} is not stored.`))
}

/** One published block. Throws 'damaged' if it is missing. */
export const readBlock = async (view: View, height: number): Promise<BlockDoc> =>
  (await view.get(blocks, blockId(height))) ?? throwMissing(`Block ${height} is not stored.`)

function throwMissing(what: string): never {
  throw missingData(what)
}

/** Times of published blocks by their heights, which may repeat. Throws 'damaged' if a block is missing. */
export async function readBlockTimes(view: View, heights: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
  const distinct = [...new Set(heights)]
  const times = await view.blockTimes(distinct)
  return new Map(distinct.map((height, at) => [height, times[at] as bigint]))
}

/** Times of the blocks with these ordinals in the list of all blocks, which begins with block 0 (`countPassing`). */
export const readOrdinalTimes = (view: View, ordinals: readonly number[]): Promise<readonly bigint[]> =>
  view.blockTimes(ordinals.map(ordinal => ordinal - 1))

/** A block that is, or was, the last published one. */
export type End = Pick<Published, 'height' | 'hash'>

/**
 * Whether a block still belongs to the stored chain; all blocks before it do, too. The end of its hash is sufficient.
 */
export const isOnChain = async (view: View, { height, hash }: End): Promise<boolean> =>
  height <= view.at.height && (await view.get(blocks, blockId(height)))?.hash.endsWith(hash) === true

/**
 * Runs work that reads current rows. Only a repair can replace them by rows of another chain, so all blocks
 * in `ends` must still be stored afterwards. A failure of the work may have that cause. Throws 'unavailable'
 * if one of the blocks was rolled back.
 */
export async function readOneChain<T>(view: View, ends: readonly End[], work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work()])
  for (const end of ends)
    if (!(await isOnChain(view, end)))
      throw new Failure('unavailable', `Block ${end.height} was taken back by a repair while its rows were read.`)
  if (done.status === 'rejected') throw done.reason
  return done.value
}

export function getPositionHeight(position: string): number {
  const [height] = parsePosition(position) ?? []
  if (height === undefined) throw new TypeError(`'${position}' is no position.`)
  return height
}

/** The ids of rows of a list, in order. `positionOf` returns the position of a row, like `Listing.idOf`. */
export async function readNumberedRowIds<D>(
  view: View,
  rows: readonly Numbered<D>[],
  positionOf: (doc: D) => string,
): Promise<readonly string[]> {
  const stored = rows.flatMap(({ doc, above }) => (above === undefined ? [getPositionHeight(positionOf(doc))] : []))
  const hashes = await blockHashes(view, stored)
  return rows.map(({ doc, above }) => {
    const position = positionOf(doc)
    return rowIdText({ position, hash: above?.doc.hash ?? requireHash(hashes, position) })
  })
}

/** The ids of rows of stored blocks, by their positions. */
export async function readRowIds(view: View, positions: readonly string[]): Promise<readonly RowId[]> {
  const hashes = await blockHashes(view, positions.map(getPositionHeight))
  return positions.map(position => ({ position, hash: requireHash(hashes, position) }))
}

function requireHash(hashes: ReadonlyMap<number, string>, position: string): string {
  const height = getPositionHeight(position)
  return hashes.get(height) ?? throwMissing(`Block ${height} has rows, and no document.`)
}

/** Hashes of stored blocks by height; heights without a stored block are left out. */
export async function blockHashes(view: View, heights: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set(heights)].map(blockId)
  const docs = ids.length === 0 ? [] : await view.getMany(blocks, ids)
  return new Map(docs.flatMap(doc => (doc === undefined ? [] : [[doc.height, doc.hash]])))
}
