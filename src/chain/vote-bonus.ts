/**
 * The decimal arithmetic by which vote_producer.iost shares bonuses: `×` and `+` are exact, a quotient is cut to 50
 * decimals, what is paid to 8. Amounts and votes are in 10^-8 IOST, coefficients in 10^-50, masks and what was earned in
 * 10^-58. Earned is coefficient × votes − mask.
 */

/** Decimals of a quotient. */
const ONE = 10n ** 50n
/** Votes below which a producer is no candidate: 2,100,000 IOST. */
const CANDIDATE_VOTES = 210_000_000_000_000n

/** What a coefficient gains when an amount is shared by some votes; by none, it is nobody's. */
export const gainedCoefficient = (amount: bigint, votes: bigint): bigint =>
  votes > 0n ? (amount * ONE) / votes : 0n

/** The votes by which a producer shares in what candidates get. */
export const candidateVotes = (votes: bigint): bigint => (votes < CANDIDATE_VOTES ? 0n : votes)

/** What is paid of what was earned, in 10^-8 IOST; digits beyond are cut off. */
export const payable = (earned: bigint): bigint => earned / ONE
