import { describe, expect, test } from 'bun:test'
import { balanceId, balances } from '#indices/balance.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { sortedByKey } from '#test/support/sorted-by-key.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const chain = await derivedRecording()
const truth = await oracle()
const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n

/** Frozen rows of the oracle, split into those due by the last block and later ones. */
function frozenOf(symbol: string, owner: string) {
  const rows = truth.frozen.get(symbol)?.get(owner) ?? []
  const all = rows.map(row => [row.get('amount') ?? '', row.get('ftime') ?? ''] as const)
  return {
    due: all.filter(([, time]) => BigInt(time) <= now),
    later: all.filter(([, time]) => BigInt(time) > now),
  }
}
const sum = (rows: readonly (readonly [string, string])[]) =>
  rows.reduce((total, [amount]) => total + BigInt(amount), 0n)

describe('deriveBlock: tokens of the recording against its node', () => {
  test('deriveBlock: available balances are the stored ones plus the amounts that are due', () => {
    const derived = chain.state
      .all(balances)
      .map(({ id, amount, frozen, frozen_list, next_due }) => [id, { amount, frozen, frozen_list, next_due }] as const)
    const expected = new Map<string, (typeof derived)[number][1]>()
    for (const part of [truth.balances, truth.frozen])
      for (const [symbol, owners] of part)
        for (const owner of owners.keys()) {
          const stored = BigInt(truth.balances.get(symbol)?.get(owner) ?? '0')
          const { due, later } = frozenOf(symbol, owner)
          expected.set(balanceId(symbol, owner), {
            amount: stored + sum(due),
            frozen: sum(later),
            frozen_list: later,
            next_due: later[0] === undefined ? undefined : BigInt(later[0][1]),
          })
        }
    expect(expected.size).toBeGreaterThanOrEqual(2207)
    // The node writes rows of 0 for payers whose RAM usage is zero in the end. The chain does not contain these.
    const something = (row: readonly [string, { readonly amount: bigint; readonly frozen: bigint }]) =>
      row[1].amount > 0n || row[1].frozen > 0n
    expect(sortedByKey(derived.filter(something))).toEqual(sortedByKey([...expected].filter(something)))
    expect(derived.filter(([id]) => !expected.has(id))).toEqual([])
  })
})
