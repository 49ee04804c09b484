import { type ProducerDoc, producers } from '#indices/producer.ts'
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
    voter_count: 0,
    block_count: 0,
    received_award: 0n,
    payouts: [],
  }

/** Puts a producer's document and counts what that changes in the table. */
export const changeProducer = (
  { state, statistics }: Pick<Scope, 'state' | 'statistics'>,
  account: string,
  change: Partial<ProducerDoc>,
): void => {
  const before = producerOf(state, account)
  const { listed: _, ...after } = { ...before, ...change }
  state.put(producers, { ...after, ...(after.registered ? { listed: account } : {}) })
  statistics.producer_count += Number(after.registered) - Number(before.registered)
  statistics.producer_votes += votesInTable(after) - votesInTable(before)
}

const votesInTable = ({ registered, votes }: Pick<ProducerDoc, 'registered' | 'votes'>): bigint =>
  registered ? votes : 0n
