import { describe, expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import { plainLists } from '#test/support/oracle/plain-lists.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

const plain = await plainLists()
const expected = (plain.get('contracts') ?? []).map((row, at) => ({
  seq: at + 1,
  contract_id: row.deployed,
  publisher: row.publisher,
  created_at: toIso(row.time),
  tx_hash: row.hash,
  records: plain.get(`contract/${row.deployed}`)?.length ?? 0,
}))

describe('get-contract-list', () => {
  test('get-contract-list: has as many contracts as the overview counts, each matching its detail and its records', async () => {
    const { contracts, total } = await ask('get-contract-list', { size: '500' })
    expect((await ask('get-overview')).contract_count).toBe(total)
    for (const { seq: _, records, ...contract } of contracts) {
      expect(await ask('get-contract-detail', { contract: contract.contract_id })).toEqual(contract)
      expect((await ask('get-contract-tx', { contract: contract.contract_id })).total).toBe(records)
    }
    expect(contracts.map((row: { contract_id: string }) => row.contract_id)).not.toContain('system.iost')
  })
  test('get-contract-list: a row of the recorded chain has no seq in compat', async () => {
    expect(await askText('get-contract-list', { size: '1' })).toBe(
      '{"contracts":[{"seq":23,"contract_id":"ContractGBFmuhTWvJfCSFRQqgr4spDaeHEhWdM7dV8ff75FCdQZ","publisher":"creator_a","created_at":"2026-11-21T08:00:09.500Z","tx_hash":"GBFmuhTWvJfCSFRQqgr4spDaeHEhWdM7dV8ff75FCdQZ","records":36}],"page":1,"size":1,"total":23}',
    )
    const { contracts } = await ask('get-contract-list', { size: '1' }, { compat: 'iostabc' })
    expect('seq' in contracts[0]).toBe(false)
  })
  test('get-contract-list: a range of blocks returns the contracts deployed in it', async () => {
    const { contracts, total } = await ask('get-contract-list', { start_block: '1', sort: 'asc' })
    const later = (plain.get('contracts') ?? []).filter(({ height }) => height >= 1)
    expect([total, contracts]).toEqual([later.length, expected.slice(-later.length).slice(0, 20)])
  })
})
