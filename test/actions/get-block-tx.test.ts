import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

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

test('get-block-tx: an unknown block is not found; in compat the list is empty', async () => {
  const hash = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
  expect(await refusal(ask('get-block-tx', { hash }))).toEqual({
    kind: 'not_found',
    en: `Block '${hash}' does not exist at block 4851.`,
    zh: `区块 '${hash}' 不存在（截至区块 4851）。`,
  })
  expect(await askText('get-block-tx', { hash }, { compat: 'iostabc' })).toBe(
    '{"transactions":[],"page":1,"size":0,"total":0}',
  )
})
