import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'

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
