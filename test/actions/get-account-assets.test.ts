import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import { bonusEvents } from '#test/support/oracle/bonus-events.ts'
import { plainBallots } from '#test/support/oracle/plain-ballots.ts'
import { voteBonuses } from '#test/support/oracle/plain-bonus.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { plainPledged, plainPledges } from '#test/support/oracle/plain-pledges.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ballots = plainBallots(blocks)
const pledges = plainPledges(blocks)
const random = seeded(31)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const last = blocks.length - 1

const owners = [...past.changes.keys()].flatMap(id => (id.startsWith('iost/') ? [id.slice('iost/'.length)] : []))
const candidates = [...new Set(ballots.map(({ producer }) => producer))]
/** Accounts that voted or pledged. */
const rich = [...new Set([...ballots.map(({ voter }) => voter), ...pledges.map(({ pledger }) => pledger)])]

const iost = (units: bigint): string => fromUnits(units, 8)

/** Candidates, voters and other owners, at random heights. */
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
        paid.push({ height, account: event.voter, units: event.paid ?? 0n })
      plain.apply(event)
    }
    for (const account of asked.get(height) ?? []) rewardsAt.set(`${account} ${height}`, rewardsOf(account))
  }
  return { rewardsAt, paid }
})()

/** The IOST of an owner after a block, computed from all blocks. */
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
  test('get-account-assets: answers at random heights match a replay of the blocks', async () => {
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

  test('get-account-assets: a withdrawal pays exactly the unclaimed reward of the block before', async () => {
    expect(paid.length).toBeGreaterThan(200)
    for (const { height, account, units } of paid) {
      const { iost: of } = await ask('get-account-assets', { account, at_block: String(height - 1) })
      expect([account, height, of.voter_rewards]).toEqual([account, height, iost(units)])
    }
  })

  test('get-account-assets: rewards are close to the recorded answers of the node', async () => {
    let [voters, candidates] = [0, 0]
    for (const [call, text] of await rpcAnswers()) {
      const [, method, account = ''] = /^GET \/(getVoterBonus|getCandidateBonus)\/([^/]+)\/true$/.exec(call) ?? []
      // The node answers 0 for a name that does not exist; each such call was recorded twice.
      if (method === undefined || account === 'nosuchacc') continue
      const { bonus } = JSON.parse(text) as { readonly bonus: number }
      const { iost: of, unclaimed } = await ask('get-account-assets', { account })
      const says =
        method === 'getVoterBonus'
          ? Number(of.voter_rewards)
          : Number(of.producer_reward) + Number(unclaimed.producer_reward_for_voters)
      // The node computes with doubles.
      const isNear = Math.abs(says - bonus) <= 1e-7 * Math.max(1, bonus / 1e7)
      expect([call, says, bonus, isNear]).toEqual([call, says, bonus, true])
      if (method === 'getVoterBonus') voters += 1
      else candidates += 1
    }
    expect([voters, candidates]).toEqual([81, 14])
  })

  test('get-account-assets: tokens other than IOST match get-token-list', async () => {
    for (const { account, height } of points.slice(0, 60)) {
      const asked = { account, at_block: String(height) }
      const { tokens } = await ask('get-token-list', asked)
      expect((await ask('get-account-assets', asked)).tokens).toEqual(
        tokens.filter(({ symbol }: { symbol: string }) => symbol !== 'iost'),
      )
    }
  })

  test('get-account-assets: answers at the last block match the current state', async () => {
    for (const account of [...rich, 'vote.iost', 'gas.iost', 'deadaddr', '0']) {
      const { at_block, at_time, ...then } = await ask('get-account-assets', {
        account,
        at_block: String(last),
      })
      expect(at_block).toBe(last)
      expect(then).toEqual(await ask('get-account-assets', { account }))
    }
  })
})
