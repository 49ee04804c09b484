import { describe, expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainTransactions } from '#test/support/oracle/plain-transactions.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

const expected = plainTransactions((await recordedBlocks()).map(({ block }) => block)).map(
  ({ height: _, time: __, ...shown }, at) => ({ seq: at + 1, ...shown, block: String(shown.block) }),
)

describe('get-transaction-list', () => {
  test('get-transaction-list: a transaction without actions has no first action, a failed one has its reason', async () => {
    const empty = expected.find(({ actions }) => actions === 0)
    const failed = expected.find(({ status_code }) => status_code !== 'SUCCESS')
    for (const row of [empty, failed]) {
      const seq = String(row?.seq)
      const { transactions } = await ask('get-transaction-list', { start_seq: seq, end_seq: seq })
      expect(transactions).toEqual([row])
    }
    expect([empty?.contract, empty?.action_name]).toEqual(['', ''])
  })
  test('get-transaction-list: genesis is the first row, with all its actions', async () => {
    const { transactions } = await ask('get-transaction-list', { sort: 'asc', size: '1' })
    expect([transactions[0].block, transactions[0].seq, transactions[0].actions > 20]).toEqual(['0', 1, true])
  })
  test('get-transaction-list: a row of the recorded chain has gas as a number with all its digits', async () => {
    expect(await askText('get-transaction-list', { size: '1' })).toBe(
      '{"transactions":[{"seq":57738,"tx_hash":"EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e","block":"4824","created_at":"2026-11-21T08:25:19.000Z","publisher":"busyhub","contract":"token.iost","action_name":"transfer","actions":1,"status_code":"SUCCESS","gas_fee":8774}],"page":1,"size":1,"total":57738}',
    )
  })
  test('get-transaction-list: a page beyond the end is empty, however large its number; in compat rows have no seq', async () => {
    for (const page of ['99999', '9999999999999999999'])
      expect(await askText('get-transaction-list', { page, size: '500' })).toBe(
        `{"transactions":[],"page":${page},"size":500,"total":57738}`,
      )
    const { transactions } = await ask('get-transaction-list', { size: '1' }, { compat: 'iostabc' })
    expect('seq' in transactions[0]).toBe(false)
  })
})
