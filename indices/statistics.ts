import { type DocOf, defineIndex } from './define.ts'
import { bool, int, json, long, text } from './fields.ts'

/** Figures over the whole chain: one document, id `STATISTICS`. */
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
    /** Σ of their votes, in 10^-8. */
    producer_votes: long(),
    /** Σ of the votes by which producers share in what candidates get, in 10^-8. */
    candidate_votes: long(),
    /** Whether vote_producer.iost has written a receipt of a vote or an addition: since then it always does. */
    votes_told: bool(),
    /** Documents of `wealth` with a total above zero: the rows of `richest`. */
    wealth_count: int(),
    /** Lists numbered so far; the next list gets `list_count` + 1. */
    list_count: int(),
    /** Pledge pairs numbered so far. */
    pledge_seq: int(),
    transaction_count: int(),
    record_count: int(),
    /** Most non-base transactions whose block time falls in one whole second. */
    highest_tps: int(),
    /** The second being counted (since 1970) and its transactions so far. */
    tps_second: int(),
    tps_count: int(),
    /** ram.iost's market: IEEE doubles as the chain computes them, written shortest. */
    ram: json<{ readonly left: string; readonly used: string; readonly balance: string }>(),
    /** Contract version of vote_producer.iost and others the eras table asks for: [contract, version]. */
    versions: json<readonly (readonly [contract: string, version: string])[]>(),
    /** Publisher and hash of the genesis transaction, and its block's time in nanoseconds, for things that exist from genesis. */
    genesis_publisher: text(),
    genesis_tx: text(),
    genesis_time: text(),
  },
})
export type StatisticsDoc = DocOf<typeof statistics>

export const STATISTICS = 'chain'
