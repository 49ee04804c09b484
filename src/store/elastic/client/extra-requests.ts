/** One extra request for so many usual ones. */
const SHARE = 1 / 20
/** Extra requests at once, after a time without. */
const MOST = 20

/** A budget of extra requests, so that an overload is not doubled by them. */
export const extraRequests = () => {
  let left = MOST
  return {
    /** A usual request was sent. */
    earn: (): void => {
      if (left < MOST) left = Math.min(MOST, left + SHARE)
    },
    /** Whether an extra one may be sent; it counts then. */
    spend: (): boolean => {
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
