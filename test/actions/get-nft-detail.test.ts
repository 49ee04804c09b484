import { expect, test } from 'bun:test'
import { plainItems } from '#test/support/oracle/items.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'

test('get-nft-detail: owner, metadata and issue of every NFT match the blocks', async () => {
  for (const [id, { owner, metadata, moves }] of (await plainItems()).items) {
    const [collection = '', token_id = ''] = id.split('/')
    const block = moves[0]?.height ?? 0
    const found = await ask('get-nft-detail', { collection, token_id })
    expect(found).toMatchObject({ collection, token_id, owner, metadata, block })
    expect(await ask('get-nft-detail', { collection, token_id: `00${token_id}` })).toEqual(found)
    expect((await ask('get-transaction-detail', { tx_hash: found.tx_hash })).block_number).toBe(String(block))
  }
})

test('get-nft-detail: the error names the missing collection or NFT', async () => {
  const asked = { collection: 'nft_dogs', token_id: '5' }
  expect(await refusal(ask('get-nft-detail', asked))).toMatchObject({
    kind: 'not_found',
    en: expect.stringContaining("NFT 'nft_dogs/5' does not exist"),
  })
  expect(await refusal(ask('get-nft-detail', { ...asked, collection: 'nosuch' }))).toMatchObject({
    en: expect.stringContaining("Collection 'nosuch' does not exist"),
  })
})
