import type { Failure } from '#failure/failure.ts'

/** A verdict this old is still used, and starts the next check in the background, milliseconds. */
const FRESH_MS = 1_000
/** An older verdict is not used: there were no requests for a while, or the last checks failed. */
const STALE_MS = 2_000

/**
 * Whether a store is whole, checked in the background at most once a second while there are requests. `check` returns the
 * failure, and throws when it cannot be found out.
 */
export const wholeness = ({
  check,
  now,
}: {
  readonly check: () => Promise<Failure | undefined>
  /** Milliseconds. */
  readonly now: () => number
}) => {
  let verdict: { readonly at: number; readonly failure: Failure | undefined } | undefined
  let checking: Promise<void> | undefined
  const refresh = (): Promise<void> => {
    if (checking !== undefined) return checking
    const at = now()
    const own = check().then(failure => {
      // A check that `expire` came after says nothing to later requests, but still to those that wait for it.
      if (checking === own) verdict = { at, failure }
      if (failure !== undefined) throw failure
    })
    checking = own
    const end = (): void => {
      if (checking === own) checking = undefined
    }
    // Requests that do not wait for this check notice that it failed by the age of the verdict.
    own.then(end, end)
    return own
  }
  let next: Promise<void> | undefined
  /** A check that begins after this call; all that wait for one share it. */
  const checkFromNow = (): Promise<void> => {
    if (checking === undefined) return refresh()
    next ??= checking
      .catch(() => {})
      .then(() => {
        next = undefined
        return refresh()
      })
    return next
  }
  const requireVerdict = (): void => {
    if (verdict?.failure !== undefined) throw verdict.failure
  }
  const ageOf = ({ at }: { readonly at: number }): number => Math.abs(now() - at)
  return {
    /** Throws the failure, if there is one. Returns a promise where a check must end first. */
    require: (): Promise<void> | undefined => {
      const age = verdict === undefined ? STALE_MS : ageOf(verdict)
      if (age >= STALE_MS) return refresh()
      if (age >= FRESH_MS) refresh().catch(() => undefined)
      requireVerdict()
      return undefined
    },
    /** As `require`, with a check that begins now: for a request that found nothing where a lost document may have been. */
    requireNow: checkFromNow,
    /** The next request waits for a new check. */
    expire: (): void => {
      verdict = undefined
      checking = undefined
    },
  }
}
