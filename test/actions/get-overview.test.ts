import { describe, expect, test } from 'bun:test'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

describe('get-overview', () => {
  test('get-overview: returns the figures of the recorded chain', async () => {
    expect(await ask('get-overview')).toEqual({
      account_count: 279,
      all_votes: '2015318286.48148136',
      circulating_supply: '23497192609.5450473',
      usd_price: null,
      cny_price: null,
      rank: null,
      price_time: null,
      contract_count: 23,
      token_count: 28,
      head_block: '4851',
      lib_block: 4851,
      highest_tps: '140',
      ram_buy_price: '0.0015444288426558642',
      ram_sell_price: '0.001514145924172416',
      total_ram: '689621312000',
      used_ram: '41247523843',
    })
  })
  test('get-overview: prices keep the digits of their source', async () => {
    const price = { usd: '0.00512345678901234567', cny: '0.037', rank: 512, time: '2026-11-21T08:00:00.000Z' }
    const text = await askText('get-overview', {}, { deps: { prices: { get: () => price } } })
    expect(text).toContain(
      '"usd_price":0.00512345678901234567,"cny_price":0.037,"rank":512,"price_time":"2026-11-21T08:00:00.000Z"',
    )
  })
  test('get-overview: head_block is that of the followed node, lib_block stays the published block', async () => {
    const { head_block, lib_block } = await ask(
      'get-overview',
      {},
      {
        deps: { node: spokenNode({}, { headBlock: 4900 }) },
      },
    )
    expect({ head_block, lib_block }).toEqual({ head_block: '4900', lib_block: 4851 })
  })
})
