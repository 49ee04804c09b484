import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots, plainPledged, plainPledges } from '#test/support/oracle/plain-ballots.ts'
import { bonusEvents, voteBonuses } from '#test/support/oracle/plain-bonus.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ballots = plainBallots(blocks)
const pledges = plainPledges(blocks)
const random = seeded(31)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T

const owners = [...past.changes.keys()].flatMap(id => (id.startsWith('iost/') ? [id.slice('iost/'.length)] : []))
const candidates = [...new Set(ballots.map(({ producer }) => producer))]
const rich = [...new Set([...ballots.map(({ voter }) => voter), ...pledges.map(({ pledger }) => pledger)])]

const iost = (units: bigint): string => formatUnits(units, 8)

const points = Array.from({ length: 240 }, (_, at) => ({
  account: one(([rich, owners, candidates] as const)[at % 3] ?? owners),
  height: Math.floor(random() * blocks.length),
}))

/** Rewards after each block according to an independent replay, and the amount that each withdrawal paid. */
const { rewardsAt, paid } = (() => {
  const plain = voteBonuses()
  const asked = new Map<number, Set<string>>()
  for (const { account, height } of points) asked.set(height, (asked.get(height) ?? new Set()).add(account))
  const rewardsAt = new Map<string, ReturnType<typeof rewardsOf>>()
  const paid: { readonly height: number; readonly account: string; readonly units: bigint }[] = []
  const rewardsOf = (account: string) => {
    const { total, parts } = plain.ofVoter(account)
    const bonus = plain.ofCandidate(account)
    return { total, parts: [...parts].filter(([, part]) => part > 0n), bonus }
  }
  for (const { height, transactions } of blocks) {
    const events = transactions.flatMap(bonusEvents)
    const takers = events.flatMap(event => (event.kind === 'voterWithdraw' ? [event.voter] : []))
    const before = new Map(takers.map(voter => [voter, plain.ofVoter(voter).total]))
    for (const event of events) {
      // Voters whose rewards already changed in the same block are left out.
      if (event.kind === 'voterWithdraw' && plain.ofVoter(event.voter).total === before.get(event.voter))
        paid.push({ height, account: event.voter, units: event.paid })
      plain.apply(event)
    }
    for (const account of asked.get(height) ?? []) rewardsAt.set(`${account} ${height}`, rewardsOf(account))
  }
  return { rewardsAt, paid }
})()

function plainIost(owner: string, height: number) {
  const { available, frozen } = plainHeld(past, `iost/${owner}`, height)
  const { self, others } = plainPledged(pledges, owner, height)
  const votes = ballots
    .filter(vote => vote.voter === owner && vote.height <= height)
    .reduce((sum, { change }) => sum + change, 0n)
  const { total, bonus } = rewardsAt.get(`${owner} ${height}`) ?? { total: 0n, bonus: 0n }
  return {
    available: iost(available),
    frozen: iost(frozen),
    votes: iost(votes),
    pledged_for_itself: iost(self),
    pledged_for_others: iost(others),
    voter_rewards: iost(total),
    producer_reward: iost(bonus / 2n),
    total: iost(available + frozen + votes + self + others + total + bonus / 2n),
  }
}

describe('get-account-assets', () => {
  test('answers at random heights match a replay of the blocks', async () => {
    for (const { account, height } of points) {
      const answer = await ask('get-account-assets', { account, at_block: String(height) })
      expect([account, height, answer.iost]).toEqual([account, height, plainIost(account, height)])
      expect(answer.at_block).toBe(height)
      const { parts, bonus } = rewardsAt.get(`${account} ${height}`) ?? { parts: [], bonus: 0n }
      expect(answer.unclaimed).toEqual({
        by_producer: parts
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([producer, amount]) => ({ producer, amount: iost(amount) })),
        producer_reward_for_voters: iost(bonus - bonus / 2n),
      })
    }
    const earning = [...rewardsAt.values()]
    expect(earning.filter(({ total }) => total > 0n).length).toBeGreaterThan(50)
    expect(earning.filter(({ bonus }) => bonus > 0n).length).toBeGreaterThan(5)
  })

  test('a withdrawal pays exactly the unclaimed reward of the block before', async () => {
    expect(paid.length).toBeGreaterThan(200)
    for (const { height, account, units } of paid) {
      const { iost: of } = await ask('get-account-assets', { account, at_block: String(height - 1) })
      expect([account, height, of.voter_rewards]).toEqual([account, height, iost(units)])
    }
  })

  test('tokens other than IOST match get-token-list', async () => {
    for (const { account, height } of points.slice(0, 30)) {
      const asked = { account, at_block: String(height) }
      const tokens: readonly { readonly symbol: string }[] = (await ask('get-token-list', asked)).tokens
      const others = tokens.filter(({ symbol }) => symbol !== 'iost')
      expect((await ask('get-account-assets', asked)).tokens).toEqual(others)
    }
  })
})

const said = (name: string, args: unknown) => receipt(`vote_producer.iost/${name}`, args as readonly unknown[] | string)
const transferred = (from: string, to: string, amount: string) =>
  receipt('token.iost/transfer', ['iost', from, to, amount, ''])
const BANK = 'vote_producer.iost'
const block = (...receipts: readonly ReturnType<typeof receipt>[]) => [transaction({ receipts })]

/** The first votes have an action but no receipt. Later the contract writes receipts. */
const chain = chainOf(
  [genesis()],
  [transaction({ actions: [action(`${BANK}/vote`, ['alice00', 'bob0000', '2200000'])] })],
  // Withdrawals had receipts before other actions did.
  block(
    transferred('alice00', BANK, '900'),
    said('voterWithdraw', '{"bob0000":"1"}'),
    transferred(BANK, 'alice00', '1'),
  ),
  block(
    said('vote', ['carol00', 'bob0000', '1100000']),
    said('topupVoterBonus', ['bob0000', '33', 'alice00']),
    said('topupCandidateBonus', ['3.00000001', 'alice00']),
  ),
  block(said('voterWithdraw', '{"bob0000":"22"}'), transferred(BANK, 'alice00', '22')),
  block(transferred(BANK, 'bob0000', '1'), said('candidateWithdraw', ['bob0000', '1', '33'])),
  block(said('topupCandidateBonus', ['3.00000001', 'alice00'])),
)
const opened = await temporarySqlite()
beforeAll(() => commitRuns(opened.store, [chain], { lib: chain.length - 1 }))
afterAll(() => opened.destroy())

/** Rewards as a voter, of its one producer, as a producer and for its voters, and whether they are known. */
async function rewards(account: string, height: number) {
  const deps = { store: opened.store }
  const { iost, unclaimed } = await ask('get-account-assets', { account, at_block: String(height) }, { deps })
  const { by_producer, producer_reward_for_voters, reason } = unclaimed
  expect(reason).toBe(iost.total === null ? 'no_receipts' : undefined)
  const ofBob = by_producer.map(({ amount }: { amount: string | null }) => amount)
  return [iost.voter_rewards, ofBob, iost.producer_reward, producer_reward_for_voters, iost.total !== null]
}

const NOTHING = ['0', [], '0', '0', true]
const UNKNOWN = [null, [null], '0', '0', false]
const BONUS_UNKNOWN = ['0', [], null, null, false]

test.each([
  // Rewards for votes without receipts are unknown until the next withdrawal with a receipt.
  ['alice00', 0, NOTHING],
  ...[1, 2, 3].map(height => ['alice00', height, UNKNOWN] as const),
  ['alice00', 4, NOTHING],
  ['alice00', 5, ['22', ['22'], '0', '0', true]],
  // Rewards of a voter whose vote has a receipt are known at once.
  ['carol00', 2, NOTHING],
  ['carol00', 3, ['11', ['11'], '0', '0', true]],
  ['carol00', 5, ['22', ['22'], '0', '0', true]],
  // The bonus of a producer with votes without receipts is known after its next withdrawal.
  ...[1, 3, 4].map(height => ['bob0000', height, BONUS_UNKNOWN] as const),
  ['bob0000', 5, NOTHING],
  // Shares of 3.00000001 by 3,300,000 votes are cut to 50 decimals, which loses a digit. The producer's half is cut.
  ['bob0000', 6, ['0', [], '1.5', '1.5', true]],
] as const)('votes without receipts: the rewards of %s after block %d', async (account, height, expected) => {
  expect(await rewards(account, height)).toEqual(expected as never)
})
