import { Exact } from '#chain/json.ts'
import { seriesOf } from '#indices/series.ts'
import { type VoteDoc, votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import { wholeOrder } from '../list/whole-list.ts'
import { exact, shape, text } from '../shape/results.ts'
import { toIost } from '../shape/values.ts'
import { readVotes } from './series.ts'

/** A producer that an owner votes for. */
export const ballot = shape({
  option: text('The producer.', '生产者。'),
  votes: exact('Votes, in IOST.', '投票数量（IOST）。'),
  cleared_votes: exact('Cleared votes; always 0.', '已清除的票数；恒为 0。'),
})

/** The votes of an owner: largest first, then by name. `total` in 10^-8 IOST. */
export async function readBallots(view: View, owner: string) {
  const docs = await wholeOrder(view, { index: votes, order: 'ofVoter', group: owner })
  return shownBallots(docs)
}

/** The votes of an owner after the block at `height`, in the same form. */
export async function readPastBallots(view: View, owner: string, height: number) {
  const then = await readVotes(view, seriesOf.voter(owner), height)
  const docs = [...then].map(([producer, votes]) => ({ producer, votes }))
  return shownBallots(
    docs.sort((a, b) => (a.votes === b.votes ? (a.producer < b.producer ? -1 : 1) : a.votes > b.votes ? -1 : 1)),
  )
}

const shownBallots = (docs: readonly Pick<VoteDoc, 'producer' | 'votes'>[]) => ({
  total: docs.reduce((sum, doc) => sum + doc.votes, 0n),
  ballots: docs.map(doc => ({
    option: doc.producer,
    votes: toIost(doc.votes),
    cleared_votes: new Exact('0'),
  })),
})
