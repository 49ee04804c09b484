/**
 * A limit by the generic cell rate algorithm: `burst` requests at once, and then one more every `stepMs` milliseconds. A
 * burst after a pause may add up to 2 · `burst` − 1 requests in the period of one burst. One number is kept for each
 * caller: the theoretical arrival time of its next request, by a clock that never goes back.
 */
export type RateLimit = { readonly burst: number; readonly stepMs: number }

/** Fractions of a millisecond by which sums of steps may be wrong. */
const ROUNDING_MS = 0.001

/** Milliseconds until one more request is within the limit; 0: it is now. */
export function computeWait({ burst, stepMs }: RateLimit, arrival: number, now: number): number {
  return Math.max(0, Math.ceil(arrival - (burst - 1) * stepMs - now - ROUNDING_MS))
}

/** The arrival time after one more request. */
export function addRequest({ stepMs }: RateLimit, arrival: number, now: number): number {
  return Math.max(arrival, now) + stepMs
}

/** Number of requests that are within the limit now. */
export function countLeft({ burst, stepMs }: RateLimit, arrival: number, now: number): number {
  return Math.max(0, Math.floor(burst - Math.max(0, arrival - now - ROUNDING_MS) / stepMs))
}
