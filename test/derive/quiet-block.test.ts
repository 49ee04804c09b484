import { expect, test } from 'bun:test'
import { findContribution } from '#chain/base-transaction.ts'
import type { Block, Transaction } from '#chain/block.ts'
import { deriveAnyBlock, deriveQuietBlock } from '#derive/derive-block.ts'
import type { WorkingState } from '#derive/working-state.ts'
import { type StateIndex, stateIndices } from '#indices/registry.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'

const MS = 600_000

/** The documents put since the block began. */
const changesOf = (state: WorkingState): ReadonlyMap<string, unknown> =>
  new Map(
    stateIndices.flatMap((index: StateIndex) =>
      state.changedSinceMark(index).map(doc => [`${index.name}/${doc.id}`, doc] as const),
    ),
  )

test(
  'the shortcut for quiet blocks has the same result as the general way, for every block',
  async () => {
    let quiet = 0
    const blocks = (await recordedBlocks()).slice(0, SOAK ? undefined : 1_500)
    deriveChain(blocks, {
      derive: (loaded, state, plan) => {
        const block = deriveQuietBlock(loaded.block, state)
        const changes = changesOf(state)
        state.rollback()
        const general = deriveAnyBlock(loaded, state, plan)
        if (block === undefined) expect(changes.size).toBe(0)
        else if (plan.due.length === 0) {
          quiet += 1
          expect({ block, transactions: [], records: [] }).toEqual(general as never)
          expect(changes).toEqual(changesOf(state))
        }
        return general
      },
    })
    expect(quiet).toBeGreaterThan(blocks.length / 4)
  },
  MS,
)

test('a block is quiet only if its base transaction pays for the parent, and does nothing else', async () => {
  const found = (await recordedBlocks()).find(({ block }) => findContribution(block) !== undefined)
  if (found === undefined) throw new Error('The recording has no quiet block.')
  const { block } = found
  const [base] = block.transactions
  if (base === undefined) throw new Error('It has no base transaction.')
  const withBase = (change: Partial<Transaction>): Block => ({
    ...block,
    transactions: [{ ...base, ...change }],
  })
  const withReceipt = (change: Partial<Transaction['receipt']>): Block =>
    withBase({ receipt: { ...base.receipt, ...change } })
  const [action] = base.actions
  const [receipt] = base.receipt.receipts
  if (action === undefined || receipt === undefined) throw new Error('It has no action or receipt.')
  const others: readonly Block[] = [
    { ...block, height: 0 },
    { ...block, transactions: [] },
    { ...block, transactions: [base, base] },
    withBase({ publisher: 'admin' }),
    withBase({ delay: 1n }),
    withBase({ actions: [] }),
    withBase({ actions: [action, action] }),
    withBase({ actions: [{ ...action, contract: 'system.iost' }] }),
    withBase({ actions: [{ ...action, actionName: 'other' }] }),
    withReceipt({ statusCode: 'RUNTIME_ERROR' }),
    withReceipt({ gasUsage: 1n }),
    withReceipt({ ramUsage: [['admin', 1n]] }),
    withReceipt({ receipts: [] }),
    withReceipt({ receipts: [receipt, receipt] }),
    withReceipt({ receipts: [{ ...receipt, funcName: 'token.iost/transfer' }] }),
    withReceipt({ receipts: [{ ...receipt, content: receipt.content.replace('contribute', 'iost') }] }),
    withReceipt({ receipts: [{ ...receipt, content: receipt.content.replace('["', '[ "') }] }),
  ]
  expect(findContribution(withBase({}))).toEqual(findContribution(block))
  expect(others.filter(other => findContribution(other) !== undefined)).toEqual([])
})
