import { describe, expect, test } from 'bun:test'
import { readCandidateBonuses } from '#actions/find/holdings.ts'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { bonusEvents } from '#test/support/oracle/bonus-events.ts'
import { plainBallots } from '#test/support/oracle/plain-ballots.ts'
import { voteBonuses } from '#test/support/oracle/plain-bonus.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const last = blocks.length - 1

type Reward = {
  readonly producer: string
  readonly block: number
  readonly tx_hash: string
  readonly action_name: string
  readonly producer_amount: string
  readonly added_for_voters: string
  readonly taken_by_voters: string
}

const amount = (text: string | undefined): string => fromUnits(toUnits(text ?? '0', 8), 8)

/** Rows computed from the receipts, without any code of `src/derive`. */
function rowsOf(name: string, content: string): readonly Omit<Reward, 'block' | 'tx_hash'>[] {
  // Receipts of user contracts need not be JSON.
  if (!/^(?:token|vote_producer)\.iost\//.test(name)) return []
  const [action_name = '', said] = [name.split('/')[1], JSON.parse(content)]
  const none = { action_name, producer_amount: '0', added_for_voters: '0', taken_by_voters: '0' }
  const [first = '', second = '', third = '', fourth = ''] = Array.isArray(said) ? (said as string[]) : []
  switch (name) {
    case 'token.iost/transfer':
      return first === 'iost' && second === 'bonus.iost'
        ? [{ ...none, producer: third, action_name: 'exchangeIOST', producer_amount: amount(fourth) }]
        : []
    case 'vote_producer.iost/candidateWithdraw':
      return [{ ...none, producer: first, producer_amount: amount(second), added_for_voters: amount(third) }]
    case 'vote_producer.iost/topupVoterBonus':
      return [{ ...none, producer: first, added_for_voters: amount(second) }]
    case 'vote_producer.iost/voterWithdraw':
      return Object.entries(said as Record<string, string>)
        .filter(([, taken]) => toUnits(taken, 8) > 0n)
        .map(([producer, taken]) => ({ ...none, producer, taken_by_voters: amount(taken) }))
    default:
      return []
  }
}

const rewards: readonly Reward[] = blocks.flatMap(({ height, transactions }) =>
  transactions.flatMap(({ hash, receipt }) =>
    (receipt.statusCode === 'SUCCESS' ? receipt.receipts : []).flatMap(({ funcName, content }) =>
      rowsOf(funcName, content).map(row => ({ ...row, block: height, tx_hash: hash })),
    ),
  ),
)
const names = [...new Set(rewards.map(row => row.producer))]

test('get-reward-history: each row of every producer matches a receipt', async () => {
  expect(new Set(rewards.map(row => row.action_name)).size).toBeGreaterThanOrEqual(3)
  for (const producer of names) {
    const own = rewards.filter(row => row.producer === producer)
    const expected = own.map(({ producer: _, ...row }, at) => ({ seq: at + 1, ...row }))
    const said = await ask('get-reward-history', { producer, sort: 'asc', size: '500' })
    expect(said).toMatchObject({ rewards: expected.slice(0, 500), total: own.length })
  }
})

test('readCandidateBonuses: what each producer could withdraw for itself after many blocks matches a replay of the receipts', async () => {
  const plain = voteBonuses()
  const heights = [-1]
  const expected = new Map(names.map(name => [name, [0n]]))
  for (const { height, transactions } of blocks) {
    for (const event of transactions.flatMap(bonusEvents)) plain.apply(event)
    if (height % 97 !== 0 && height < last) continue
    heights.push(height)
    for (const name of names) expected.get(name)?.push(plain.ofCandidate(name) / 2n)
  }
  const store = await loadedStore()
  for (const name of names) {
    const found = await store.read(view => readCandidateBonuses(view, name, heights))
    expect([name, found]).toEqual([name, expected.get(name) ?? []])
  }
  expect([...expected.values()].flat().filter(units => units > 0n).length).toBeGreaterThan(20)
})

describe('get-reward-shares', () => {
  const ballots = plainBallots(blocks)
  const random = seeded(2211)
  const producers = [...new Set(ballots.map(({ producer }) => producer))]
  const voters = [...new Set(ballots.map(({ voter }) => voter))]
  const timeOf = (height: number): bigint => blocks[height]?.time ?? 0n
  const cut = (numerator: bigint, denominator: bigint) => fromUnits((numerator * 10n ** 18n) / denominator, 18)

  /** Votes × ns, block by block: the votes of a voter after each block, until the next one. */
  function plainWeight(voter: string, producer: string, [start, end]: readonly [number, number]) {
    const own = ballots.filter(each => each.voter === voter && each.producer === producer)
    const after = (height: number): bigint =>
      own.filter(each => each.height <= height).reduce((sum, { change }) => sum + change, 0n)
    let weight = 0n
    const stops = [start, ...own.map(({ height }) => height).filter(at => at > start && at < end), end]
    for (const [at, from] of stops.slice(0, -1).entries())
      weight += after(from) * (timeOf(stops[at + 1] ?? end) - timeOf(from))
    const isThere = after(start) > 0n || own.some(({ height }) => height > start && height <= end)
    return { voter, first: after(start), last: after(end), weight, isThere }
  }

  test('at random periods: shares match the votes weighted by time', async () => {
    const periods = Array.from({ length: 40 }, (): readonly [number, number] => {
      const [a, b] = [Math.floor(random() * last), Math.floor(random() * last)]
      return a < b ? [a, b] : [b, a + 1]
    })
    const byName = (a: { account: string }, b: { account: string }) => (a.account < b.account ? -1 : 1)
    let changed = 0
    for (const [start, end] of [...periods, [0, last] as const]) {
      const producer = producers[Math.floor(random() * producers.length)] ?? ''
      const range = { start_block: String(start), end_block: String(end) }
      const said = await ask('get-reward-shares', { producer, ...range })
      const expected = voters.map(voter => plainWeight(voter, producer, [start, end])).filter(({ isThere }) => isThere)
      const all = expected.reduce((sum, { weight }) => sum + weight, 0n)
      const length = timeOf(end) - timeOf(start)
      expect([said.start_block, said.end_block, said.seconds, said.vote_seconds]).toEqual([
        start,
        end,
        fromUnits(length, 9),
        fromUnits(all, 17),
      ])
      const shares = expected.map(({ voter, first, last, weight }) => ({
        account: voter,
        start_votes: fromUnits(first, 8),
        end_votes: fromUnits(last, 8),
        mean_votes: cut(weight, length * 10n ** 8n),
        vote_seconds: fromUnits(weight, 17),
        share: all === 0n ? '0' : cut(weight, all),
      }))
      expect(said.shares.toSorted(byName)).toEqual(shares.toSorted(byName))
      changed += expected.filter(each => each.first !== each.last).length
    }
    expect(changed).toBeGreaterThan(20)
  })

  test('adjacent periods add up to the whole, also by times', async () => {
    const time = String(timeOf(2_000))
    const sumOf = async (asked: Readonly<Record<string, string>>): Promise<bigint> =>
      toUnits((await ask('get-reward-shares', asked)).vote_seconds, 18)
    for (const producer of producers) {
      const parts = (await sumOf({ producer, end_time: time })) + (await sumOf({ producer, start_time: time }))
      expect([producer, parts]).toEqual([producer, await sumOf({ producer })])
    }
  })
})
