/**
 * The decimal arithmetic with which vote_producer.iost shares bonuses: `×` and `+` are exact, a quotient is
 * truncated to 50 decimals, a payment to 8. Amounts and votes are in 10^-8 IOST, coefficients in 10^-50,
 * masks and earnings in 10^-58. Earnings are coefficient × votes − mask.
 */

/** Scale of a quotient: 50 decimals. */
const ONE = 10n ** 50n
/** Votes below which a producer is not a candidate: 2,100,000 IOST. */
const CANDIDATE_VOTES = 210_000_000_000_000n

/** The growth of a coefficient when some votes share an amount; without votes, nobody gets the amount. */
export const gainedCoefficient = (amount: bigint, votes: bigint): bigint => (votes > 0n ? (amount * ONE) / votes : 0n)

/** The votes with which a producer shares in the bonuses of candidates. */
export const candidateVotes = (votes: bigint): bigint => (votes < CANDIDATE_VOTES ? 0n : votes)

/** The payable part of earnings, in 10^-8 IOST; further digits are cut off. */
export const payable = (earned: bigint): bigint => earned / ONE
