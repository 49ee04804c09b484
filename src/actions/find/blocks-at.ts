import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { missingData } from '#store/missing-data.ts'
import type { Published, View } from '#store/port.ts'

/** Published blocks by their heights, in that order. Throws 'damaged' where one is missing. */
export const blocksAt = async (view: View, heights: readonly number[]): Promise<readonly BlockDoc[]> => {
  const docs = heights.length === 0 ? [] : await view.getMany(blocks, heights.map(blockId))
  return docs.map((doc, at) => doc ?? lost(heights[at]))
}

/** One published block. Throws 'damaged' where it is missing. */
export const blockAt = async (view: View, height: number): Promise<BlockDoc> =>
  (await view.get(blocks, blockId(height))) ?? lost(height)

const lost = (height: number | undefined): never => {
  throw missingData(`Block ${height} is not stored.`)
}

/** Times of published blocks by their heights. */
export const timesOf = async (view: View, heights: readonly number[]): Promise<ReadonlyMap<number, bigint>> =>
  new Map((await blocksAt(view, [...new Set(heights)])).map(({ height, time }) => [height, time]))

/** A block that was the end of the published chain, or before it. */
export type End = Pick<Published, 'height' | 'hash'>

/** Whether a block still belongs to the stored chain; then all blocks before it do. Of its hash, the end is enough. */
export const isOn = async (view: View, { height, hash }: End): Promise<boolean> =>
  height <= view.at.height && (await view.get(blocks, blockId(height)))?.hash.endsWith(hash) === true

/**
 * Does work that reads rows as they are now. Only a repair can make them those of another chain, so all of these blocks
 * must still be stored afterwards; what failed may have failed for that. Throws 'unavailable' where one was taken back.
 */
export const ofOneChain = async <T>(view: View, ends: readonly End[], work: () => Promise<T>): Promise<T> => {
  const [done] = await Promise.allSettled([work()])
  for (const end of ends) if (!(await isOn(view, end))) throw takenBack(end)
  if (done.status === 'rejected') throw done.reason
  return done.value
}

const takenBack = ({ height }: End): Failure =>
  new Failure('unavailable', `Block ${height} was taken back by a repair while its rows were read.`)
