import { expect, test } from 'bun:test'
import type { Transaction } from '#chain/block.ts'
import { resources } from '#indices/resource.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'

const moved = (token: string, from: string, to: string, amount: string) =>
  receipt('token.iost/transfer', [token, from, to, amount, ''])

/** A market of 1,000,000 bytes at 0.005 IOST each, in which 1,000 were bought for 5.01 IOST and a fee. */
function derive(...after: readonly Transaction[]) {
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
  return deriveChain(chainOf([opened], [bought], after)).state
}
const marketOf = (state: ReturnType<typeof derive>) => state.get(statistics, STATISTICS)?.ram

test('deriveBlock: a sale of RAM whose price goes to the market itself is a sale', () => {
  const before = marketOf(derive())
  expect(before).toEqual({ left: '1999000', used: '1000', balance: '5005.01' })
  const to = (receiver: string) =>
    derive(
      transaction({
        receipts: [moved('ram', 'alice00', 'ram.iost', '400'), moved('iost', 'ram.iost', receiver, '1')],
      }),
    )
  expect(marketOf(to('bob0000'))).toEqual({ left: '1999400', used: '600', balance: '5004.01' })
  // The receiver may be any name that ends with `.iost` (go-iost `vm/host/host.go` IsValidAccount).
  const own = to('ram.iost')
  expect(marketOf(own)).toEqual({ left: '1999400', used: '600', balance: '5004.01' })
  expect(own.get(resources, 'alice00')?.ram_total).toBe(600n)
})

test('deriveBlock: RAM that is lent to the market is no sale, whatever is paid to the market next', () => {
  const state = derive(
    transaction({
      receipts: [
        moved('ram', 'alice00', 'ram.iost', '400'),
        moved('iost', 'alice00', 'ram.iost', '1'),
        moved('iost', 'ram.iost', 'deadaddr', '0.02'),
        moved('ram', 'ram.iost', 'alice00', '100'),
      ],
    }),
  )
  expect(marketOf(state)).toEqual({ left: '1998900', used: '1100', balance: '5005.99' })
})
