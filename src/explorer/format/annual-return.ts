const DAYS_OF_RETURN = 30n
const NS_PER_DAY = 86_400_000_000_000n
const NS_PER_MS = 1_000_000n

/**
 * Whether rewards have been paid for the 30 days from which an annual return is extrapolated.
 * @param since time of the first reward, ISO-8601 UTC; undefined: there is none yet.
 * @param now time of the last block, nanoseconds since 1970.
 */
export function hasDaysOfReturn(since: string | undefined, now: bigint): boolean {
  return since !== undefined && now - BigInt(Date.parse(since)) * NS_PER_MS >= DAYS_OF_RETURN * NS_PER_DAY
}
