import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots } from '#test/support/oracle/plain-ballots.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const ballots = plainBallots(blocks)
const iost = (units: bigint): string => fromUnits(units, 8)

test('the recorded chain has votes for several producers, some cast by contracts', () => {
  expect(new Set(ballots.map(({ producer }) => producer)).size).toBeGreaterThan(3)
  expect(ballots.some(({ voter }) => voter.startsWith('Contract'))).toBe(true)
})

describe('get-vote-history', () => {
  for (const voter of new Set(ballots.map(each => each.voter)))
    test(`${voter}: every vote has the balance of votes after it`, async () => {
      const own = ballots.filter(each => each.voter === voter)
      const expected = own.map(({ height, hash, producer, change }, at) => {
        const until = own.slice(0, at + 1)
        const total = until.reduce((sum, each) => sum + each.change, 0n)
        const votes = until.filter(each => each.producer === producer).reduce((sum, each) => sum + each.change, 0n)
        return {
          seq: at + 1,
          block: height,
          tx_hash: hash,
          producer,
          change: iost(change),
          votes: iost(votes),
          total_votes: iost(total),
        }
      })
      const { votes, total } = await ask('get-vote-history', { account: voter, sort: 'asc', size: '500' })
      expect(total).toBe(own.length)
      expect(votes).toMatchObject(expected)
      const from = own[Math.floor(own.length / 2)]?.height ?? 0
      const part = await ask('get-vote-history', { account: voter, start_block: String(from), size: '500' })
      expect(part.votes).toMatchObject(expected.filter(({ block }) => block >= from).toReversed())
    })
})
