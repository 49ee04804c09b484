import { expect, test } from 'bun:test'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { nodeText } from '#test/support/stores/node-text.ts'

test('receipts that fill a block are stored and returned, whatever their text is', async () => {
  // Text without end, whose quotes look like those of a list.
  const content = `[12345678901234567,"${'\\"'.repeat(2_250_000)}`
  const receipts = [receipt('ContractX/a', content), receipt('ContractX/a', 'é'.repeat(2_250_000))]
  const made = transaction({ actions: [action('ContractX/a', [])], receipts })
  const { store, destroy } = await temporarySqlite()
  await commitRuns(store, [chainOf([genesis()], [{ ...made, body: nodeText(made) }])], { lib: 1 })
  const deps = { store }
  const expected = receipts.map(({ funcName, content: text }) => ({ func_name: funcName, content: text }))
  expect(await ask('get-transaction-detail', { tx_hash: made.hash }, { deps })).toMatchObject({
    transaction: { tx_receipt: { receipts: expected } },
  })
  // The rows are made from the decoded transaction.
  expect(await ask('get-transaction-records', { tx_hash: made.hash }, { deps })).toMatchObject({
    records: [{ contract: 'ContractX', action_name: 'a' }],
  })
  await destroy()
})
