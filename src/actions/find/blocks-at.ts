import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { missingData } from '#store/missing-data.ts'
import type { Published, View } from '#store/port.ts'

/** Published blocks by their heights, in the same order. Throws 'damaged' if one is missing. */
export async function readBlocks(view: View, heights: readonly number[]): Promise<readonly BlockDoc[]> {
  const docs = heights.length === 0 ? [] : await view.getMany(blocks, heights.map(blockId))
  return docs.map((doc, at) => doc ?? lost(heights[at]))
}

/** One published block. Throws 'damaged' if it is missing. */
export const readBlock = async (view: View, height: number): Promise<BlockDoc> =>
  (await view.get(blocks, blockId(height))) ?? lost(height)

function lost(height: number | undefined): never {
  throw missingData(`Block ${height} is not stored.`)
}

/** Times of published blocks by their heights. */
export const readBlockTimes = async (view: View, heights: readonly number[]): Promise<ReadonlyMap<number, bigint>> =>
  new Map((await readBlocks(view, [...new Set(heights)])).map(({ height, time }) => [height, time]))

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
export async function ofOneChain<T>(view: View, ends: readonly End[], work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work()])
  for (const end of ends) if (!(await isOnChain(view, end))) throw takenBack(end)
  if (done.status === 'rejected') throw done.reason
  return done.value
}

const takenBack = ({ height }: End): Failure =>
  new Failure('unavailable', `Block ${height} was taken back by a repair while its rows were read.`)
