import { expect, test } from 'bun:test'
import { toUnits } from '#chain/amount.ts'
import { formatDoubt, series, seriesOf } from '#indices/series.ts'
import { applyVoteEntry, parseEntries, parsePackedNumber, parseVotes } from '#indices/series-entry.ts'
import { oracle, recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { bonusEvents } from '#test/support/oracle/bonus-events.ts'
import { voteBonuses } from '#test/support/oracle/plain-bonus.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const answers = await rpcAnswers()
const chain = await derivedRecording()

/** The replay at the end of the chain, for each withdrawal the paid and the expected amount, and who voted for whom. */
const replayed = (() => {
  const bonuses = voteBonuses()
  const paid: (readonly [string, bigint, bigint])[] = []
  const pairs = new Map<string, readonly [voter: string, producer: string]>()
  for (const { transactions } of blocks)
    for (const tx of transactions)
      for (const event of bonusEvents(tx)) {
        if (event.kind === 'voterWithdraw' && event.paid !== undefined)
          paid.push([tx.hash, event.paid, bonuses.ofVoter(event.voter).total])
        if (event.kind === 'candidateWithdraw' && event.paid !== undefined)
          paid.push([tx.hash, event.paid, bonuses.ofCandidate(event.producer) / 2n])
        bonuses.apply(event)
        if (event.kind === 'vote') pairs.set(`${event.voter}/${event.producer}`, [event.voter, event.producer])
      }
  return { bonuses, paid, pairs }
})()

test('every withdrawal paid the amount of the replay, to the last digit', () => {
  expect(replayed.paid.length).toBeGreaterThan(100)
  expect(replayed.paid.filter(([, is, says]) => is !== says)).toEqual([])
})

test('the stored coefficients and masks of the contract match the replay', async () => {
  const { other } = await oracle()
  const stored = other.get('vote_producer.iost')?.get('MAP') ?? new Map<string, unknown>()
  let count = 0
  for (const [key, value] of stored) {
    const [, table = '', name = ''] = /^(voterCoef|v_[^-]+)-(.+)$/.exec(key) ?? []
    if (table === '') continue
    const digits = JSON.parse(String(value)) as string
    const said =
      table === 'voterCoef'
        ? [replayed.bonuses.coef(name), signed(digits, 50)]
        : [replayed.bonuses.mask(table.slice('v_'.length), name), signed(digits, 58)]
    expect([key, said[0]]).toEqual([key, said[1]])
    count += 1
  }
  expect(count).toBeGreaterThan(600)
})

const signed = (text: string, decimals: number): bigint =>
  text.startsWith('-') ? -toUnits(text.slice(1), decimals) : toUnits(text, decimals)

/** The node computes with doubles. */
const isNear = (text: string, units: bigint): boolean =>
  Math.abs(Number(text) - Number(units) / 1e8) <= 1e-7 * Math.max(1, Math.abs(Number(text)) / 1e7)

test("the node's recorded answers are close to the replay", () => {
  let [voters, candidates] = [0, 0]
  for (const [call, text] of answers) {
    const [, method, name = ''] = /^GET \/(getVoterBonus|getCandidateBonus)\/([^/]+)\/true$/.exec(call) ?? []
    if (method === undefined) continue
    const { bonus, detail = {} } = JSON.parse(text) as { bonus: number; detail?: Record<string, number> }
    if (method === 'getVoterBonus') {
      const { total, parts } = replayed.bonuses.ofVoter(name)
      expect([name, bonus, isNear(String(bonus), total)]).toEqual([name, bonus, true])
      for (const [producer, part] of Object.entries(detail))
        expect([name, producer, isNear(String(part), parts.get(producer) ?? 0n)]).toEqual([name, producer, true])
      voters += 1
    } else {
      const has = replayed.bonuses.ofCandidate(name)
      expect([name, bonus, isNear(String(bonus), has)]).toEqual([name, bonus, true])
      candidates += 1
    }
  }
  expect(voters).toBeGreaterThan(70)
  expect(candidates).toBeGreaterThan(14)
})

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
  const { bonuses: plain, pairs } = replayed
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
