import type { LoadedBlock } from '#chain/block.ts'
import type { Store } from '#store/port.ts'
import { commitRuns } from '../stores/commit-runs.ts'
import { recordedBlocks } from './recording.ts'

/** Number of blocks at the end that are loaded one by one. */
const ALONE = 12

/** The recorded chain up to a height, whose last blocks are from another node, with other hashes and transactions. */
export async function forkedChain(to: number, orphans: number): Promise<readonly LoadedBlock[]> {
  const all = await recordedBlocks()
  const blocks = all.slice(0, to + 1)
  for (let height = to - orphans + 1; height <= to; height++) {
    const [own, parent, other] = [blocks[height], blocks[height - 1], all[height + 7]]
    if (own === undefined || parent === undefined || other === undefined) throw new Error('The recording is short.')
    const [base] = own.block.transactions
    const transactions = [...(base === undefined ? [] : [base]), ...other.block.transactions.slice(1)]
    // The hash of another block, because it has the right form.
    const hash = all[height + 2_000]?.block.hash ?? ''
    blocks[height] = {
      ...own,
      block: { ...own.block, hash, parentHash: parent.block.hash, transactions, txCount: transactions.length },
    }
  }
  return blocks
}

/** Loads blocks as a loader near the head does: each of the last ones in its own batch. */
export async function fill(store: Store, blocks: readonly LoadedBlock[], lib: number): Promise<void> {
  const until = blocks.length - ALONE
  await commitRuns(store, [blocks.slice(0, until), ...blocks.slice(until).map(block => [block])], { lib })
}
