import { type DocOf, defineIndex } from './define.ts'
import { bool, int, json, keyword, long, name, optional, searchedBool, sortedLong, text } from './fields.ts'

/** Days whose votes are known: 30 and the current one. */
export const VOTE_DAYS = 31

/** Producers, also unregistered ones (their votes remain). Id: the account. Votes and IOST in 10^-8. */
export const producers = defineIndex({
  name: 'producers',
  kind: 'state',
  named: 'listed',
  orders: {
    /** The table: registered producers. */
    ranked: {
      where: 'registered',
      by: [
        ['votes', 'desc'],
        ['account', 'asc'],
      ],
      counted: true,
    },
    all: { by: [['account', 'asc']] },
  },
  fields: {
    account: keyword(),
    /** False: not in the table (never registered, or unregistered); detail answers 404, voters are still answered. `pubkey` to
     * `online` are then the last known values. */
    registered: searchedBool(),
    /** The account again, while it is in the table. */
    listed: optional(name()),
    /** Height of the block in which it last left the table; absent while it is in it, and where it never was. */
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
    /** Its votes at the beginning of each UTC day since 1970 on which they changed, the last `VOTE_DAYS` such days: [day, 10^-8 IOST]. */
    opening_votes: json<readonly (readonly [day: number, votes: string])[]>(),
    /** Voters with votes above zero. */
    voter_count: int(),
    block_count: int(),
    received_award: long(),
    /** What its voters were paid, by UTC day since 1970, the last 31 days with any: [day, 10^-8 IOST]. */
    payouts: json<readonly (readonly [day: number, amount: string])[]>(),
  },
})
export type ProducerDoc = DocOf<typeof producers>

/** Whose key signs blocks, now. Id: the public key. */
export const producerKeys = defineIndex({
  name: 'producer-keys',
  kind: 'state',
  fields: {
    /** `""`: the key belongs to nobody any more. */
    account: text(),
  },
})
