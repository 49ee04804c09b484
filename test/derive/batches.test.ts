import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { findContribution } from '#chain/base-transaction.ts'
import type { Block, LoadedBlock, Transaction } from '#chain/block.ts'
import { deriveAnyBlock, deriveBlock, deriveQuietBlock } from '#derive/derive-block.ts'
import { days } from '#indices/day.ts'
import { type StateIndex, stateIndices } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { spreadDays } from '#test/support/nodes/spread-days.ts'
import { plainDays } from '#test/support/oracle/plain-days.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { type DerivedChain, deriveChain, derivedRecording } from '#test/support/stores/derived-chain.ts'
import { generatedBlocks } from '../generator/generated-blocks.ts'

setDefaultTimeout(600_000)

// Awaited here and not in a test: reading a chain takes longer than the time limit of a test.
const recorded = await recordedBlocks()
/** The first 300 of these with any content follow 700 nearly empty ones. */
const beginning = recorded.slice(0, SOAK ? 1_500 : 1_000)

const stateOf = ({ state }: DerivedChain) =>
  stateIndices.map((index: StateIndex) => [index.name, new Map(state.all(index).map(doc => [doc.id, doc]))] as const)

test('deriveBlock: any split into batches, with state read again between them, gives the same documents', () => {
  const whole = deriveChain(beginning, { sizeOf: () => beginning.length })
  const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(sizes, drawn => {
      const split = deriveChain(beginning, { sizeOf: batch => drawn[batch % drawn.length] ?? 1 })
      expect(split.documents).toEqual(whole.documents)
      expect(stateOf(split)).toEqual(stateOf(whole))
    }),
    { numRuns: SOAK ? 20 : 1, examples: [[[1, 1, 300, 2]]] },
  )
})

test('the shortcut for quiet blocks has the same result as the general way, for every block', () => {
  let quiet = 0
  const blocks = SOAK ? recorded : beginning
  deriveChain(blocks, {
    derive: (loaded, state, plan) => {
      const changesOf = () =>
        new Map(stateIndices.map(index => [index.name, state.changedSinceMark(index as StateIndex)]))
      const block = deriveQuietBlock(loaded.block, state)
      const changes = changesOf()
      state.rollback()
      const general = deriveAnyBlock(loaded, state, plan)
      if (block === undefined) expect([...changes.values()].flat()).toEqual([])
      else if (plan.due.length === 0) {
        quiet += 1
        expect({ block, transactions: [], records: [] }).toEqual(general as never)
        expect(changes).toEqual(changesOf())
      }
      return general
    },
  })
  expect(quiet).toBeGreaterThan(blocks.length / 4)
})

test('a block is quiet only if its base transaction pays for the parent, and does nothing else', () => {
  const block = recorded.find(each => findContribution(each.block) !== undefined)?.block as Block
  const base = block.transactions[0] as Transaction
  const withBase = (change: Partial<Transaction>): Block => ({ ...block, transactions: [{ ...base, ...change }] })
  const withReceipt = (change: Partial<Transaction['receipt']>): Block =>
    withBase({ receipt: { ...base.receipt, ...change } })
  const action = base.actions[0] as Transaction['actions'][number]
  const receipt = base.receipt.receipts[0] as Transaction['receipt']['receipts'][number]
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

const dateOf = ({ block }: LoadedBlock): string => new Date(Number(block.time / 1_000_000n)).toISOString().slice(0, 10)

/** Compares the figures of each day that are counted from its blocks, which RAM is not. */
function expectDays({ state }: DerivedChain, blocks: readonly LoadedBlock[]) {
  const plain = plainDays(blocks.map(({ block }) => block))
  const derived = new Map(
    state.all(days).map(({ id, ram: _, ...doc }) => [id, { ...doc, iost_moved: BigInt(doc.iost_moved) }] as const),
  )
  expect([...derived.keys()]).toEqual([...plain.keys()])
  for (const [date, expected] of plain) expect([date, derived.get(date)]).toEqual([date, expected as never])
  return plain
}

test('deriveBlock: the figures of the days of the recording match a count of its blocks', async () => {
  expectDays(await derivedRecording(), recorded)
})

describe('days of a generated chain', () => {
  let spread: readonly LoadedBlock[]
  let cut: DerivedChain
  /** RAM after the last block of each day. */
  const rams = new Map<string, unknown>()
  beforeAll(async () => {
    spread = spreadDays(await generatedBlocks(SOAK ? 600 : 300))
    cut = deriveChain(spread, {
      sizeOf: batch => 1 + ((batch * 37) % 90),
      derive: (loaded, state, plan) => {
        const documents = deriveBlock(loaded, state, plan)
        rams.set(dateOf(loaded), state.get(statistics, STATISTICS)?.ram)
        return documents
      },
    })
  })

  test('deriveBlock: figures match if batches span days and days span batches', () => {
    const plain = [...expectDays(cut, spread).values()]
    expect(plain.length).toBeGreaterThan(15)
    for (const figure of ['failed', 'movements', 'new_accounts'] as const)
      expect([figure, plain.filter(day => day[figure] > 0).length > 1]).toEqual([figure, true])
  })

  test('deriveBlock: RAM at the end of a day is that of its last block', () => {
    expect(new Map(cut.state.all(days).map(({ id, ram }) => [id, ram as unknown]))).toEqual(rams)
  })
})
