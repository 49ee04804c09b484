import { expect, test } from 'bun:test'
import type { Transaction } from '#chain/block.ts'
import { pledges } from '#indices/pledge.ts'
import { resources } from '#indices/resource.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'

// `recording.test.ts` compares gas, pledges and RAM of the recording with its node. Here is what the recording lacks.

const pledge = (from: string, to: string, amount: string, name: 'pledge' | 'unpledge' = 'pledge'): Transaction =>
  transaction({ receipts: [receipt(`gas.iost/${name}`, [from, to, amount])] })
const derive = (...lists: readonly (readonly Transaction[])[]) => deriveChain(chainOf([genesis()], ...lists)).state

test.each(['90', '90.', '--90', '90.00000000abc'])('applyGas: an unpledge of "%s" is of 90', amount => {
  // The receipt contains the text that the contract passed (go-iost `vm/native/gas.go` unpledge).
  const state = derive([pledge('alice00', 'bob0000', '100')], [pledge('alice00', 'bob0000', amount, 'unpledge')])
  expect(state.get(resources, 'bob0000')?.gas_pledge).toBe(1_000_000_000n)
  expect(state.all(pledges).map(({ amount: left }) => left)).toEqual([1_000_000_000n])
})

test('applyGas: the third decimal that pledges of eight decimals give stays until the gas is refreshed', () => {
  const first = pledge('alice00', 'bob0000', '10.00000008')
  const grown = { gas_limit: 3_000_000_024n, gas_stock: 1_000_000_008n }
  expect(derive([first]).get(resources, 'bob0000')).toMatchObject(grown)
  // 11.5000000920 gas grow in a second, and the sum is cut to two decimals: 1000011.5080000920.
  const spent = derive([first], [transaction({ publisher: 'bob0000', receipt: { gasUsage: 50n } })])
  expect(spent.get(resources, 'bob0000')?.gas_stock).toBe(1_000_011_500n - 500n)
  const small = () => pledge('alice00', 'bob0000', '1.00000001')
  const state = derive([small(), small(), small(), small()])
  expect(state.get(resources, 'bob0000')?.gas_limit).toBe(400_000_004n * 3n)
})

test('payGas: failed transactions pay, too, and the stock never falls below zero', () => {
  const stockAfter = (gasUsage: bigint) => {
    const failed = transaction({ publisher: 'bob0000', receipt: { statusCode: 'RUNTIME_ERROR', gasUsage } })
    return derive([pledge('alice00', 'bob0000', '10')], [failed]).get(resources, 'bob0000')?.gas_stock
  }
  expect([1_234n, 200_000_000n].map(stockAfter)).toEqual([1_000_000_000n + 11_500n - 12_340n, 0n])
})

const moved = (token: string, from: string, to: string, amount: string) =>
  receipt('token.iost/transfer', [token, from, to, amount, ''])

/** A market of 1,000,000 bytes at 0.005 IOST each, in which 1,000 were bought for 5.01 IOST and a fee. */
function deriveMarket(...receipts: readonly ReturnType<typeof receipt>[]) {
  const first = genesis()
  const opened = { ...first, actions: [...first.actions, action('ram.iost/issue', [1_000_000, 600, 1, 0])] }
  const bought = transaction({
    receipts: [
      receipt('token.iost/issue', ['ram', 'ram.iost', '1000000']),
      moved('iost', 'alice00', 'ram.iost', '5.11'),
      moved('iost', 'ram.iost', 'deadaddr', '0.1'),
      moved('ram', 'ram.iost', 'alice00', '1000'),
    ],
  })
  const { state } = deriveChain(chainOf([opened], [bought], [transaction({ receipts })]))
  return { ram: state.get(statistics, STATISTICS)?.ram, alice: state.get(resources, 'alice00')?.ram_total }
}

test('deriveBlock: a sale of RAM whose price goes to the market itself is a sale, RAM that is lent to it is none', () => {
  const lent = moved('ram', 'alice00', 'ram.iost', '400')
  expect(deriveMarket().ram).toEqual({ left: '1999000', used: '1000', balance: '5005.01' })
  // The receiver may be any name that ends with `.iost` (go-iost `vm/host/host.go` IsValidAccount).
  for (const receiver of ['bob0000', 'ram.iost'])
    expect(deriveMarket(lent, moved('iost', 'ram.iost', receiver, '1'))).toEqual({
      ram: { left: '1999400', used: '600', balance: '5004.01' },
      alice: 600n,
    })
  const more = [
    moved('iost', 'alice00', 'ram.iost', '1'),
    moved('iost', 'ram.iost', 'deadaddr', '0.02'),
    moved('ram', 'ram.iost', 'alice00', '100'),
  ]
  expect(deriveMarket(lent, ...more).ram).toEqual({ left: '1998900', used: '1100', balance: '5005.99' })
})
