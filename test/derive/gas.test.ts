import { expect, test } from 'bun:test'
import type { Transaction } from '#chain/block.ts'
import { pledges } from '#indices/pledge.ts'
import { resources } from '#indices/resource.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, genesis, receipt, SECOND, START, transaction } from '#test/support/stores/hand-made.ts'

const pledge = (name: 'pledge' | 'unpledge', from: string, to: string, amount: string): Transaction =>
  transaction({ receipts: [receipt(`gas.iost/${name}`, [from, to, amount])] })
const derive = (...lists: readonly (readonly Transaction[])[]) => deriveChain(chainOf([genesis()], ...lists)).state
function gasOf(state: ReturnType<typeof derive>, owner: string) {
  const { gas_pledge, gas_limit, gas_stock, gas_updated } = state.get(resources, owner) ?? {}
  return { gas_pledge, gas_limit, gas_stock, gas_updated }
}
const at = (height: number) => START + BigInt(height) * SECOND

test('applyGas: a first pledge gives 100,000 gas per IOST at once, later pledges add to the gas that has grown', () => {
  const state = derive([pledge('pledge', 'alice00', 'bob0000', '10')], [pledge('pledge', 'carol00', 'bob0000', '2.5')])
  // 11.5 gas grow in the second between the pledges.
  expect(gasOf(state, 'bob0000')).toEqual({
    gas_pledge: 1_250_000_000n,
    gas_limit: 3_750_000_000n,
    gas_stock: 1_000_000_000n + 11_500n + 250_000_000n,
    gas_updated: at(2),
  })
})

test('applyGas: an unpledge lowers the limit and cuts the stock to it', () => {
  const state = derive(
    [pledge('pledge', 'alice00', 'bob0000', '100')],
    [pledge('unpledge', 'alice00', 'bob0000', '90')],
  )
  expect(gasOf(state, 'bob0000')).toEqual({
    gas_pledge: 1_000_000_000n,
    gas_limit: 3_000_000_000n,
    gas_stock: 3_000_000_000n,
    gas_updated: at(2),
  })
})

test.each(['90', '90.', '--90', '90.00000000abc'])('applyGas: an unpledge of "%s" is of 90', amount => {
  // The receipt contains the text that the contract passed (go-iost `vm/native/gas.go` unpledge).
  const state = derive(
    [pledge('pledge', 'alice00', 'bob0000', '100')],
    [pledge('unpledge', 'alice00', 'bob0000', amount)],
  )
  expect(gasOf(state, 'bob0000').gas_pledge).toBe(1_000_000_000n)
  expect(state.all(pledges).map(({ amount: left }) => left)).toEqual([1_000_000_000n])
})

test('applyGas: the third decimal that a pledge of eight decimals gives stays until the gas is refreshed', () => {
  const state = derive([pledge('pledge', 'alice00', 'bob0000', '10.00000008')])
  expect(gasOf(state, 'bob0000')).toMatchObject({ gas_limit: 3_000_000_024n, gas_stock: 1_000_000_008n })
  // 11.5000000920 gas grow in a second, and the sum is cut to two decimals: 1000011.5080000920.
  const spent = derive(
    [pledge('pledge', 'alice00', 'bob0000', '10.00000008')],
    [transaction({ publisher: 'bob0000', receipt: { gasUsage: 50n } })],
  )
  expect(gasOf(spent, 'bob0000').gas_stock).toBe(1_000_011_500n - 500n)
})

test('applyGas: the third decimals of pledges add up in the limit', () => {
  const small = () => pledge('pledge', 'alice00', 'bob0000', '1.00000001')
  const state = derive([small(), small(), small(), small()])
  expect(gasOf(state, 'bob0000').gas_limit).toBe(400_000_004n * 3n)
})

test('applyGas: pairs are numbered by their first pledge; a pair that fell to zero is numbered last on its return', () => {
  const state = derive([
    pledge('pledge', 'alice00', 'bob0000', '20'),
    pledge('pledge', 'alice00', 'carol00', '30'),
    pledge('unpledge', 'alice00', 'bob0000', '20'),
    pledge('pledge', 'alice00', 'carol00', '1'),
    pledge('pledge', 'alice00', 'bob0000', '5'),
  ])
  expect(state.all(pledges).map(({ id, amount, seq }) => [id, amount, seq])).toEqual([
    ['alice00/bob0000', 500_000_000n, 3],
    ['alice00/carol00', 3_100_000_000n, 2],
  ])
})

test('payGas: failed transactions pay, too, and the stock never falls below zero', () => {
  const failed = (gasUsage: bigint) =>
    transaction({
      publisher: 'bob0000',
      actions: [action('token.iost/transfer', [])],
      receipt: { statusCode: 'RUNTIME_ERROR', gasUsage },
    })
  const first = pledge('pledge', 'alice00', 'bob0000', '10')
  expect(gasOf(derive([first], [failed(1_234n)]), 'bob0000')).toEqual({
    gas_pledge: 1_000_000_000n,
    gas_limit: 3_000_000_000n,
    gas_stock: 1_000_000_000n + 11_500n - 12_340n,
    gas_updated: at(2),
  })
  expect(gasOf(derive([first], [failed(200_000_000n)]), 'bob0000').gas_stock).toBe(0n)
})
