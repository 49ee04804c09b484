import { expect, test } from 'bun:test'
import { toUnits } from '#chain/amount.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { bonusEvents, voteBonuses } from '#test/support/oracle/plain-bonus.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)

/** The replay at the end of the chain, and for each withdrawal the paid and the expected amount. */
const replayed = (() => {
  const bonuses = voteBonuses()
  const paid: (readonly [string, bigint, bigint])[] = []
  for (const { transactions } of blocks)
    for (const tx of transactions)
      for (const event of bonusEvents(tx)) {
        if (event.kind === 'voterWithdraw') paid.push([tx.hash, event.paid, bonuses.ofVoter(event.voter).total])
        if (event.kind === 'candidateWithdraw')
          paid.push([tx.hash, event.paid, bonuses.ofCandidate(event.producer) / 2n])
        bonuses.apply(event)
      }
  return { bonuses, paid }
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
