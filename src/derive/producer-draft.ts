import { dayOf } from '#chain/time.ts'
import { type ProducerDoc, producers, VOTE_DAYS } from '#indices/producer.ts'
import type { Scope } from './scope.ts'
import type { State } from './state.ts'

/** A producer's document; one that never registered (votes, awards and keys may come first) is not in the table. */
export const producerOf = (state: State, account: string): ProducerDoc =>
  state.get(producers, account) ?? {
    id: account,
    account,
    registered: false,
    pubkey: '',
    loc: '',
    url: '',
    net_id: '',
    is_producer: false,
    status: 0,
    online: false,
    votes: 0n,
    opening_votes: [],
    voter_count: 0,
    block_count: 0,
    received_award: 0n,
    payouts: [],
  }

/**
 * Puts a producer's document and counts what that changes in the table. Every change of a producer's votes is made here, so
 * the first one on a day still finds the votes that the day began with.
 */
export const changeProducer = (
  { state, statistics, block }: Pick<Scope, 'state' | 'statistics' | 'block'>,
  account: string,
  change: Partial<Omit<ProducerDoc, 'opening_votes'>>,
): void => {
  const before = producerOf(state, account)
  const { listed: _, unregistered, ...changed } = { ...before, ...change }
  const isVoted = changed.votes !== before.votes
  const after = isVoted ? { ...changed, opening_votes: openingVotes(before, dayOf(block.time)) } : changed
  state.put(producers, {
    ...after,
    ...(after.registered ? { listed: account } : unregistered === undefined ? {} : { unregistered }),
  })
  statistics.producer_count += Number(after.registered) - Number(before.registered)
  statistics.producer_votes += votesInTable(after) - votesInTable(before)
}

const openingVotes = (
  { votes, opening_votes }: Pick<ProducerDoc, 'votes' | 'opening_votes'>,
  day: number,
): ProducerDoc['opening_votes'] =>
  opening_votes.at(-1)?.[0] === day
    ? opening_votes
    : [...opening_votes, [day, String(votes)] as const].slice(-VOTE_DAYS)

const votesInTable = ({ registered, votes }: Pick<ProducerDoc, 'registered' | 'votes'>): bigint =>
  registered ? votes : 0n
