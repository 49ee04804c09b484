import type { Block, TxReceipt } from '#chain/block.ts'
import { checkBlock, lossyReceipts, restoredReceipt } from '#chain/check.ts'
import { checkWhole } from '#chain/check-whole.ts'
import { decodeRawBlock, type RawBlock } from '#chain/raw-block.ts'
import { mayHaveLost } from '#chain/receipt-hash.ts'
import { ask } from './call.ts'
import type { Fetching } from './fetching.ts'

/** A block's raw form, which must pass `check`: it throws Failure 'bad_block'. */
const fetchRaw = ({ asking }: Fetching, height: number, check: (raw: RawBlock) => void): Promise<RawBlock> =>
  ask(asking, {
    what: `raw block ${height}`,
    path: `/getRawBlockByNumber/${height}/true`,
    bytes: true,
    decode: text => {
      const raw = decodeRawBlock(text)
      check(raw)
      return raw
    },
  })

/** Proves the text of a block's transactions by its raw form. Throws Failure 'bad_block', `Refused`. */
export const proveWhole = async (fetching: Fetching, block: Block): Promise<void> => {
  await fetchRaw(fetching, block.height, raw => checkWhole(block, raw))
}

/**
 * Checks a block some of whose receipts lost bytes in the node's JSON, with just those taken from its raw form; how many
 * they are. Throws Failure 'bad_block', `Refused`.
 */
export const proveLost = async (
  fetching: Fetching,
  block: Block,
  known: { readonly parent: string | undefined; readonly info: Uint8Array | undefined },
): Promise<number> => {
  const lossy = lossyReceipts(block)
  let restored: TxReceipt | undefined
  let tried = false
  const check = (raw: RawBlock): void => {
    const receipts = new Map(
      lossy.flatMap(index => {
        const receipt = raw.receipts[index]
        return receipt === undefined ? [] : [[index, receipt] as const]
      }),
    )
    const [only] = lossy
    // For nodes whose raw form lost the bytes too: a character that was cut can be found by the root.
    const again = only !== undefined && lossy.length === 1 ? receipts.get(only) : undefined
    if (only !== undefined && again !== undefined && mayHaveLost(again)) {
      if (!tried) restored = restoredReceipt(block, only)
      tried = true
      if (restored !== undefined) receipts.set(only, restored)
    }
    const { info, parent } = known
    checkBlock(block, { parentHash: parent }, { receipts, ...(info === undefined ? {} : { info }) })
  }
  await fetchRaw(fetching, block.height, check)
  fetching.tell({ type: 'lost_bytes', height: block.height, receipts: lossy.length })
  return lossy.length
}
