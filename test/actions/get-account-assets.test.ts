import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots } from '#test/support/oracle/plain-ballots.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { plainPledged, plainPledges } from '#test/support/oracle/plain-pledges.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ballots = plainBallots(blocks)
const pledges = plainPledges(blocks)
const random = seeded(31)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const last = blocks.length - 1

const owners = [...past.changes.keys()].flatMap(id =>
  id.startsWith('iost/') ? [id.slice('iost/'.length)] : [],
)
/** Those with most to tell. */
const rich = [...new Set([...ballots.map(({ voter }) => voter), ...pledges.map(({ pledger }) => pledger)])]

const iost = (units: bigint): string => fromUnits(units, 8)

/** IOST of an owner after a block, by going through all blocks. */
const plainIost = (owner: string, height: number) => {
  const { available, frozen } = plainHeld(past, `iost/${owner}`, height)
  const { self, others } = plainPledged(pledges, owner, height)
  const votes = ballots
    .filter(vote => vote.voter === owner && vote.height <= height)
    .reduce((sum, { change }) => sum + change, 0n)
  return {
    available: iost(available),
    frozen: iost(frozen),
    votes: iost(votes),
    pledged_for_itself: iost(self),
    pledged_for_others: iost(others),
    total: iost(available + frozen + votes + self + others),
  }
}

const points = Array.from({ length: 150 }, (_, at) => ({
  account: one(at % 2 === 0 ? rich : owners),
  height: Math.floor(random() * blocks.length),
}))

describe('get-account-assets', () => {
  test('get-account-assets: at random heights what a plain replay of the blocks has', async () => {
    for (const { account, height } of points) {
      const answer = await ask('get-account-assets', { account, at_block: String(height) })
      expect([account, height, answer.iost]).toEqual([account, height, plainIost(account, height)])
      expect(answer.at_block).toBe(height)
    }
  })

  test('get-account-assets: tokens beside IOST are those of get-token-list', async () => {
    for (const { account, height } of points.slice(0, 60)) {
      const asked = { account, at_block: String(height) }
      const { tokens } = await ask('get-token-list', asked)
      expect((await ask('get-account-assets', asked)).tokens).toEqual(
        tokens.filter(({ symbol }: { symbol: string }) => symbol !== 'iost'),
      )
    }
  })

  test('get-account-assets: after the last block all of it is what it is now', async () => {
    for (const account of [...rich, 'vote.iost', 'gas.iost', 'deadaddr', '0']) {
      const { at_block, at_time, ...then } = await ask('get-account-assets', {
        account,
        at_block: String(last),
      })
      expect(at_block).toBe(last)
      expect(then).toEqual(await ask('get-account-assets', { account }))
    }
  })

  test('get-account-assets: never seen is not found', async () => {
    expect(await refusal(ask('get-account-assets', { account: 'neverseen.iost' }))).toMatchObject({
      kind: 'not_found',
    })
  })
})
