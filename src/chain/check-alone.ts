import type { Block } from './block.ts'
import { checkBlock, lossyReceipts, restoredReceipt } from './check.ts'

/**
 * Checks a block of which there is nothing but one node's JSON: its head has its hash, and the roots in it are those of
 * its transactions and receipts. A message of one receipt that was cut inside a letter is excused where the root tells
 * what was cut; other lost bytes are not. `height` is the one that was asked for. Throws Failure 'bad_block'.
 */
export const checkAlone = (block: Block, height = block.height): void => {
  try {
    checkBlock(block, { parentHash: undefined, height })
  } catch (error) {
    const [only, ...more] = lossyReceipts(block)
    const receipt = only === undefined || more.length > 0 ? undefined : restoredReceipt(block, only)
    if (only === undefined || receipt === undefined) throw error
    checkBlock(block, { parentHash: undefined, height }, { receipts: new Map([[only, receipt]]) })
  }
}
