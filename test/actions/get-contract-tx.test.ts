import { describe, expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

async function wholeList(params: Readonly<Record<string, string>>) {
  const rows: unknown[] = []
  for (let page = 1; ; page += 1) {
    const answer = await ask('get-contract-tx', { ...params, page: String(page), size: '500' }, { compat: 'iostabc' })
    for (const { amount: _, ...row } of answer.transactions) rows.push(row)
    if (rows.length >= answer.total || answer.transactions.length === 0) return { rows, total: answer.total }
  }
}

describe('get-contract-tx', () => {
  test('get-contract-tx: rows name their contract, the id is accepted without its prefix', async () => {
    const contract = 'Contractjnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ'
    const { transactions } = await ask('get-contract-tx', { contract: contract.slice('Contract'.length) })
    expect(transactions.length).toBe(20)
    expect(transactions.every((row: { contract: string }) => row.contract === contract)).toBe(true)
  })
  test('get-contract-tx: texts over four kilobytes are returned whole, read from their transactions', async () => {
    const long = (await recordedBlocks())
      .flatMap(({ block }) => block.transactions)
      .flatMap(({ actions }) => actions)
      .filter(({ contract, data }) => contract === 'system.iost' && data.length > 4096)
      .map(({ data }) => data)
    const { rows } = await wholeList({ contract: 'system.iost', sort: 'asc' })
    const shown = (rows as { data: string }[]).map(({ data }) => data).filter(data => data.length > 4096)
    expect(long.map(data => data.length)).toEqual([6781, 60_004])
    expect(shown).toEqual(long)
  })
})
