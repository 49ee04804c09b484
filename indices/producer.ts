import {
  bool,
  countedOrder,
  type DocOf,
  defineIndex,
  int,
  json,
  keyword,
  long,
  name,
  optional,
  searchedBool,
  sortedLong,
  text,
} from './define.ts'

/** Number of days whose votes are kept: 30 and the current one. */
export const VOTE_DAYS = 31

/** Producers, unregistered ones included (their votes remain). Id: the account. Votes and IOST in 10^-8. */
export const producers = defineIndex({
  name: 'producers',
  kind: 'state',
  named: 'listed',
  orders: {
    /** The producer table: registered producers. */
    ranked: countedOrder(['votes', 'account'], { where: 'registered' }),
    all: { by: [['account', 'asc']] },
  },
  fields: {
    account: keyword(),
    /**
     * False: not in the table (never registered, or unregistered). The detail action answers 404 then; voters
     * are still listed. The fields from `pubkey` to `online` keep their last known values.
     */
    registered: searchedBool(),
    /** The account again, while the producer is in the table. */
    listed: optional(name()),
    /**
     * Height of the block in which the producer last left the table. Absent while it is in the table, and if
     * it never was.
     */
    unregistered: optional(int()),
    pubkey: text(),
    loc: text(),
    url: text(),
    net_id: text(),
    is_producer: bool(),
    /** 0 APPLY, 1 APPROVED, 2 UNAPPLY, 3 UNAPPLY_APPROVED. */
    status: int(),
    online: bool(),
    votes: sortedLong(),
    /**
     * The producer's votes at the beginning of each UTC day on which they changed, the last `VOTE_DAYS` such
     * days: [day since 1970, 10^-8 IOST].
     */
    opening_votes: json<readonly (readonly [day: number, votes: string])[]>(),
    /** Voters with votes above zero. */
    voter_count: int(),
    block_count: int(),
    received_award: long(),
    /** Amounts paid to its voters, by UTC day since 1970, the last 31 days with any: [day, 10^-8 IOST]. */
    payouts: json<readonly (readonly [day: number, amount: string])[]>(),
  },
})
export type ProducerDoc = DocOf<typeof producers>

/** Accounts by the producer key that signs blocks for them now. Id: the public key. */
export const producerKeys = defineIndex({
  name: 'producer-keys',
  kind: 'state',
  fields: {
    /** `""`: the key no longer belongs to an account. */
    account: text(),
  },
})
