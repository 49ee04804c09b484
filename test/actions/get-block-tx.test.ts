import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

test('get-block-tx: returns the hashes of a block in order, base transaction first', async () => {
  const blocks = await recordedBlocks()
  const wrong: number[] = []
  for (let height = 0; height < blocks.length; height += 37) {
    const block = blocks[height]?.block
    const transactions = block?.transactions.map(({ hash }) => hash) ?? []
    const expected = { transactions, page: 1, size: transactions.length, total: transactions.length }
    const byNumber = await ask('get-block-tx', { number: String(height) })
    const byHash = await ask('get-block-tx', { hash: block?.hash ?? '' })
    if (!Bun.deepEquals([byNumber, byHash], [expected, expected], true)) wrong.push(height)
  }
  expect(wrong).toEqual([])
})
