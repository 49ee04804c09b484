import { bool, type DocOf, defineIndex, int, json, long, text } from './define.ts'

/** Totals of the whole chain: one document, id `STATISTICS`. */
export const statistics = defineIndex({
  name: 'statistics',
  kind: 'state',
  fields: {
    account_count: int(),
    contract_count: int(),
    token_count: int(),
    /** Collections of token721.iost. */
    collection_count: int(),
    /** Registered producers: the rows of `ranked`. */
    producer_count: int(),
    /** Sum of the votes of registered producers, in 10^-8. */
    producer_votes: long(),
    /** Sum of the votes that count for the producers' shares of the candidates' bonus, in 10^-8. */
    candidate_votes: long(),
    /** Whether vote_producer.iost has written a receipt for a vote or an addition; once it has, it always does. */
    votes_told: bool(),
    /** Documents of `wealth` with a total above zero: the rows of `richest`. */
    wealth_count: int(),
    /** Lists numbered so far; the next list gets `list_count` + 1. */
    list_count: int(),
    /** Pledge pairs numbered so far. */
    pledge_seq: int(),
    transaction_count: int(),
    record_count: int(),
    /** Highest number of non-base transactions with block times in the same whole second. */
    highest_tps: int(),
    /** The second being counted (since 1970) and its transactions so far. */
    tps_second: int(),
    tps_count: int(),
    /** ram.iost's market: IEEE doubles as the chain computes them, in their shortest decimal form. */
    ram: json<{ readonly left: string; readonly used: string; readonly balance: string }>(),
    /**
     * Versions of the contracts that the table of eras depends on, vote_producer.iost among them: [contract, version].
     */
    versions: json<readonly (readonly [contract: string, version: string])[]>(),
    /**
     * Publisher and hash of the genesis transaction, and the time of its block in nanoseconds, for things
     * that exist since genesis.
     */
    genesis_publisher: text(),
    genesis_tx: text(),
    genesis_time: text(),
  },
})
export type StatisticsDoc = DocOf<typeof statistics>

export const STATISTICS = 'chain'
