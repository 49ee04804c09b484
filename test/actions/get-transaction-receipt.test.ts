import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

test('get-transaction-receipt: returns the receipts of every transaction of some blocks', async () => {
  const blocks = await recordedBlocks()
  const wrong: string[] = []
  let most = 0
  for (const height of [0, 803, 804, 807, 1060, 1200, 2021])
    for (const tx of blocks[height]?.block.transactions ?? []) {
      const receipts = tx.receipt.receipts.map(({ funcName, content }) => ({ func_name: funcName, content }))
      most = Math.max(most, receipts.length)
      const expected = { receipts, page: 1, size: receipts.length, total: receipts.length }
      if (!Bun.deepEquals(await ask('get-transaction-receipt', { tx_hash: tx.hash }), expected, true))
        wrong.push(tx.hash)
    }
  expect({ most, wrong }).toEqual({ most: 100, wrong: [] })
})
