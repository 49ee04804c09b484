import { describe, expect, test } from 'bun:test'
import { plainLists, shownPlainRow } from '#test/support/oracle/plain-lists.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

/** The rows of all pages of a token's list. */
async function wholeList(params: Readonly<Record<string, string>>) {
  const rows: { readonly amount?: string }[] = []
  for (let page = 1; ; page += 1) {
    const answer = await ask('get-token-tx', { ...params, page: String(page) }, { compat: 'iostabc' })
    rows.push(...answer.transactions)
    if (rows.length >= answer.total || answer.transactions.length === 0) return { rows, total: answer.total }
  }
}

describe('get-token-tx', () => {
  test('get-token-tx: the list of every token matches the blocks, each row with the amount that it moved', async () => {
    const wrong: string[] = []
    let count = 0
    for (const [list, plain] of await plainLists()) {
      if (!list.startsWith('token/')) continue
      count += 1
      const { rows, total } = await wholeList({ token: list.slice('token/'.length), size: '500' })
      const expected = plain.map(shownPlainRow).toReversed()
      const shown = rows.map(({ amount: _, ...row }) => row)
      if (total !== expected.length || !Bun.deepEquals(shown, expected, true)) wrong.push(list)
      if (rows.some(({ amount }) => amount === undefined)) wrong.push(`${list} without amount`)
    }
    expect({ many: count > 10, wrong }).toEqual({ many: true, wrong: [] })
  })
  test('get-token-tx: failed actions have no row, since they moved nothing', async () => {
    const lists = await plainLists()
    const failed = (lists.get('contract/token.iost') ?? []).filter(({ status }) => status !== 'SUCCESS')
    expect(failed.length).toBeGreaterThan(0)
    const moved = [...lists].filter(([key]) => key.startsWith('token/')).flatMap(([, rows]) => rows)
    expect(moved.every(({ status }) => status === 'SUCCESS')).toBe(true)
    const { rows } = await wholeList({ token: 'iost', size: '500' })
    expect(new Set(rows.map(row => (row as { readonly status_code?: string }).status_code))).toEqual(
      new Set(['SUCCESS']),
    )
  })
  test('get-token-tx: a range returns exactly its rows, and none beyond its last page', async () => {
    const plain = (await plainLists()).get('token/iost') ?? []
    const expected = plain.filter(({ height }) => height >= 1000 && height <= 2000).map(shownPlainRow)
    const params = { token: 'iost', start_block: '1000', end_block: '2000', sort: 'asc', size: '500' }
    const { rows, total } = await wholeList(params)
    expect([total, rows.map(({ amount: _, ...row }) => row)]).toEqual([expected.length, expected])
    const beyond = await ask('get-token-tx', { ...params, page: String(Math.ceil(total / 500) + 1) })
    expect([beyond.total, beyond.transactions]).toEqual([total, []])
  })
  test('get-token-tx: a row of the recorded chain names its contract', async () => {
    expect(await askText('get-token-tx', { token: 'iost', size: '1' })).toBe(
      '{"transactions":[{"seq":47666,"contract":"token.iost","action_name":"transfer","data":["iost","busyhub","user_001","0.5","the last one"],"block":"4824","tx_hash":"EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e","from":"busyhub","to":"user_001","created_at":"2026-11-21T08:25:19.000Z","index":0,"return":"[]","status_code":"SUCCESS","amount":"0.5","token":"iost","memo":"the last one"}],"page":1,"size":1,"total":47666}',
    )
  })
})
