import { expect, test } from 'bun:test'
import { UNKNOWN } from '#derive/working-state.ts'
import { type VoteDoc, votes } from '#indices/vote.ts'
import { rangeCache } from './range-cache.ts'

const vote = (voter: string, amount: bigint, producer = 'bob0000'): VoteDoc => ({
  id: `${producer}/${voter}`,
  producer,
  voter,
  votes: amount,
})
const RANGE = { index: votes, order: 'voters', group: 'bob0000', after: { amount: 9n, name: 'm' } }

test('rangeCache: what the store says, corrected by the batch that was on its way when it was asked', async () => {
  let flying: readonly VoteDoc[] = [
    vote('stays', 5n),
    vote('gone', 0n),
    vote('climbed', 10n),
    vote('ahead', 9n),
    vote('came', 8n),
    vote('elsewhere', 4n, 'carol00'),
  ]
  const cache = rangeCache(
    async () => {
      // The batch arrives, and is forgotten, while the store is read as it was before.
      flying = []
      return [vote('gone', 3n), vote('climbed', 2n), vote('stays', 6n), vote('still', 1n)]
    },
    () => flying,
  )
  expect(cache.get(RANGE)).toBe(UNKNOWN)
  await cache.fetch([RANGE])
  expect(cache.get({ ...RANGE, group: 'carol00' })).toBe(UNKNOWN)
  expect(cache.get({ ...RANGE, after: { amount: 8n, name: 'm' } })).toBe(UNKNOWN)
  const found = cache.get({ ...RANGE })
  expect(found === UNKNOWN ? found : [...found]).toEqual([
    vote('stays', 5n),
    vote('still', 1n),
    vote('came', 8n),
  ])
  cache.clear()
  expect(cache.get(RANGE)).toBe(UNKNOWN)
})
