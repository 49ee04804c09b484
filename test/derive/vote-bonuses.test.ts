import { expect, test } from 'bun:test'
import { formatDoubt, series, seriesOf } from '#indices/series.ts'
import { applyVoteEntry, parseEntries, parsePackedNumber, parseVotes } from '#indices/series-entry.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { bonusEvents } from '#test/support/oracle/bonus-events.ts'
import { voteBonuses } from '#test/support/oracle/plain-bonus.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

const chain = await derivedRecording()
const blocks = (await recordedBlocks()).map(({ block }) => block)

function sumOf(key: string): bigint {
  const doc = chain.state.get(series, key)
  return doc === undefined ? 0n : parsePackedNumber(doc.gained) - parsePackedNumber(doc.lost)
}
function namedOf(key: string): ReadonlyMap<string, bigint> {
  const doc = chain.state.get(series, key)
  return doc === undefined
    ? new Map()
    : parseEntries(doc.entries, doc.height).reduce(applyVoteEntry, parseVotes(doc.opening))
}

test('deriveBlock: coefficients and masks at the end of the chain match a replay', () => {
  const plain = voteBonuses()
  const pairs = new Map<string, readonly [string, string]>()
  for (const { transactions } of blocks)
    for (const tx of transactions)
      for (const event of bonusEvents(tx)) {
        plain.apply(event)
        if (event.kind === 'vote') pairs.set(`${event.voter}/${event.producer}`, [event.voter, event.producer])
      }
  const producers = new Set([...pairs.values()].map(([, producer]) => producer))
  expect(pairs.size).toBeGreaterThan(600)
  let [coefficients, masks] = [0, 0]
  for (const producer of producers) {
    expect([producer, sumOf(seriesOf.votersCoefficient(producer))]).toEqual([producer, plain.coef(producer)])
    coefficients += Number(plain.coef(producer) > 0n)
  }
  for (const [voter, producer] of pairs.values()) {
    const named = namedOf(seriesOf.voterMasks(voter))
    expect([voter, producer, named.get(producer) ?? 0n]).toEqual([voter, producer, plain.mask(producer, voter)])
    expect(named.get(formatDoubt(producer))).toBeUndefined()
    masks += Number(named.has(producer))
  }
  expect(coefficients).toBeGreaterThan(8)
  expect(masks).toBeGreaterThan(400)
})
