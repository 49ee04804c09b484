import { describe, expect, test } from 'bun:test'
import { type VoteDoc, votes } from '#indices/vote.ts'
import { MissingState } from './state.ts'
import { UNKNOWN, workingState } from './working-state.ts'

const vote = (voter: string, amount: bigint): VoteDoc => ({
  id: `bob0000/${voter}`,
  producer: 'bob0000',
  voter,
  votes: amount,
})
const stored = new Map([['bob0000/alice00', vote('alice00', 1n)]])
const absent = new Set(['bob0000/carol00', '__proto__'])
const begin = () => workingState((_, id) => stored.get(id) ?? (absent.has(id) ? undefined : UNKNOWN))

// `test/derive/batches.test.ts` compares changes, marks and rollbacks on whole chains.
describe('workingState', () => {
  test('workingState: fetched documents are returned, nothing where the store has none, and Missing is thrown for the rest', () => {
    const state = begin()
    expect(state.get(votes, 'bob0000/alice00')).toEqual(vote('alice00', 1n))
    expect(state.get(votes, '__proto__')).toBeUndefined()
    expect(() => state.get(votes, 'bob0000/dave000')).toThrow(
      new MissingState({ keys: [{ index: votes, id: 'bob0000/dave000' }] }),
    )
  })

  test('workingState: a change contains the previous document, also when it is evicted meanwhile', () => {
    const known = new Map(stored)
    const state = workingState((_, id) => known.get(id) ?? (absent.has(id) ? undefined : UNKNOWN))
    state.put(votes, vote('alice00', 2n))
    state.put(votes, vote('carol00', 3n))
    known.clear()
    state.put(votes, vote('alice00', 3n))
    expect(state.changes()).toEqual([
      { index: votes, doc: vote('alice00', 3n), before: vote('alice00', 1n) },
      { index: votes, doc: vote('carol00', 3n) },
    ])
    expect(() => state.put(votes, vote('dave000', 1n))).toThrow(MissingState)
  })
})
