/** Extra requests allowed per usual request, and per second when all usual requests are waiting. */
const SHARE = 1 / 20
const A_SECOND = 5
/** Maximum number of extra requests at once, after a time without any. */
const MOST = 20

/** A budget of extra requests, so that they do not double an overload. */
export const extraRequests = (now: () => number) => {
  let left = MOST
  let last = now()
  return {
    /** Called for each usual request. */
    earn: (): void => {
      if (left < MOST) left += SHARE
    },
    /** Whether an extra request may be sent; if so, it is charged to the budget. */
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
