import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

test('get-transaction-action: returns the actions of every transaction of some blocks', async () => {
  const blocks = await recordedBlocks()
  const wrong: string[] = []
  for (const height of [0, 803, 804, 807, 1060, 2021])
    for (const tx of blocks[height]?.block.transactions ?? []) {
      const actions = tx.actions.map(({ contract, actionName, data }) => ({
        contract,
        action_name: actionName,
        data,
      }))
      const expected = { actions, page: 1, size: actions.length, total: actions.length }
      if (!Bun.deepEquals(await ask('get-transaction-action', { tx_hash: tx.hash }), expected, true))
        wrong.push(tx.hash)
    }
  expect(wrong).toEqual([])
})

test('get-transaction-action: a transaction without actions has none, an unknown transaction is not found', async () => {
  expect(await askText('get-transaction-action', { tx_hash: '9psjd8sKVxFWh4nDmVhgkQNemFxU8J4b5GapXCyykt4A' })).toBe(
    '{"actions":[],"page":1,"size":0,"total":0}',
  )
  const tx_hash = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
  expect((await refusal(ask('get-transaction-action', { tx_hash }))).kind).toBe('not_found')
})
