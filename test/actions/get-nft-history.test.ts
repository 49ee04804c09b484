import { expect, test } from 'bun:test'
import { plainItems } from '#test/support/oracle/items.ts'
import { ask } from '#test/support/stores/ask.ts'

const { items } = await plainItems()

test('get-nft-history: lists the issue and each transfer of every NFT, in both orders', async () => {
  let rows = 0
  for (const [id, { moves }] of items) {
    const [collection = '', token_id = ''] = id.split('/')
    const whole = moves.map(({ height, from, to }, at) => ({ seq: at + 1, block: height, from, to }))
    for (const sort of ['asc', 'desc']) {
      const { movements, total } = await ask('get-nft-history', { collection, token_id, sort })
      const shown = movements.map(({ seq, block, from, to }: Row) => ({ seq, block, from, to }))
      expect(shown).toEqual(sort === 'asc' ? whole : whole.toReversed())
      expect(total).toBe(whole.length)
    }
    rows += whole.length
  }
  expect(rows).toBe(36)
})

test('get-nft-history: a range returns the movements within it, each with its transaction', async () => {
  const asked = { collection: 'nft_cats', token_id: '0' }
  const { movements, total } = await ask('get-nft-history', { ...asked, start_block: '809' })
  expect([total, movements[0].from, movements[0].to]).toEqual([1, '__proto__', '12345'])
  const { block_number } = await ask('get-transaction-detail', { tx_hash: movements[0].tx_hash })
  expect(block_number).toBe(String(movements[0].block))
})

type Row = { readonly seq: number; readonly block: number; readonly from: string; readonly to: string }
