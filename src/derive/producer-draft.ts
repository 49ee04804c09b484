import { type ProducerDoc, producers } from '#indices/producer.ts'
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

export const changeProducer = (state: State, account: string, change: Partial<ProducerDoc>): void => {
  state.put(producers, { ...producerOf(state, account), ...change })
}
