/** One extra request for this number of usual ones, and a number a second where all usual ones wait. */
const SHARE = 1 / 20
const A_SECOND = 5
/** Extra requests at once, after a time without. */
const MOST = 20

/** A budget of extra requests, so that an overload is not doubled by them. */
export const extraRequests = (now: () => number) => {
  let left = MOST
  let last = now()
  return {
    /** A usual request was sent. */
    earn: (): void => {
      if (left < MOST) left += SHARE
    },
    /** Whether an extra one may be sent; it counts then. */
    spend: (): boolean => {
      const at = now()
      left = Math.min(MOST, left + ((at - last) / 1_000) * A_SECOND)
      last = at
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
