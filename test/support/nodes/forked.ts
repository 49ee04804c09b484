import type { LoadedBlock } from '#chain/block.ts'
import { DERIVATION } from '#indices/registry.ts'
import { batchBuilder } from '#load/batch-builder.ts'
import { deriver } from '#load/deriver.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import type { Store } from '#store/port.ts'
import { recordedBlocks } from './recording.ts'

/** Blocks at the end that are loaded one by one. */
const ALONE = 12

/** The recorded chain up to a height, of which the last blocks are another node's: other hashes, other transactions. */
export const forkedChain = async (to: number, orphans: number): Promise<readonly LoadedBlock[]> => {
  const all = await recordedBlocks()
  const blocks = all.slice(0, to + 1)
  for (let height = to - orphans + 1; height <= to; height++) {
    const [own, parent, other] = [blocks[height], blocks[height - 1], all[height + 7]]
    if (own === undefined || parent === undefined || other === undefined)
      throw new Error('The recording is short.')
    const [base] = own.block.transactions
    const transactions = [...(base === undefined ? [] : [base]), ...other.block.transactions.slice(1)]
    // The hash of some other block: of the right form.
    const hash = all[height + 2_000]?.block.hash ?? ''
    blocks[height] = {
      ...own,
      block: {
        ...own.block,
        hash,
        parentHash: parent.block.hash,
        transactions,
        txCount: transactions.length,
      },
    }
  }
  return blocks
}

/** Loads blocks as a loader near the head does: the last ones each in a batch of its own. */
export const fill = async (store: Store, blocks: readonly LoadedBlock[], lib: number): Promise<void> => {
  await store.create()
  const genesis = blocks[0]?.block
  if (genesis === undefined) throw new Error('The recording has no block.')
  const chainId = genesis.transactions[0]?.chainId ?? 0
  const writer = await store.takeOver({ chainId, genesis: genesis.hash, derivation: DERIVATION })
  const filling = () => writer.partitions?.filling ?? NOTHING_FILLED
  const derive = deriver(writer, () => filling().partition)
  const until = blocks.length - ALONE
  const runs = [blocks.slice(0, until), ...blocks.slice(until).map(block => [block])]
  for (const run of runs) {
    const batch = batchBuilder({ documents: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER })
    let { documents } = filling()
    await derive.begin(run)
    for (const block of run) {
      const each = await derive.derive(block)
      batch.add(each)
      documents += 1 + each.transactions.length + each.records.length
    }
    await writer.commit(batch.build(derive.cut(), { partition: 0, documents }, lib))
    derive.settled()
  }
  await writer.release()
}
