import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

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
