import type { Failure } from '#failure/failure.ts'

/** Age from which a verdict is still used but starts the next check in the background, in milliseconds. */
const FRESH_MS = 1_000
/** Age from which a verdict is not used: there were no requests for a while, or the last checks failed. In ms. */
const STALE_MS = 2_000

/**
 * Whether a store is whole, checked in the background at most once a second while there are requests. `check`
 * returns the failure, and throws when it cannot determine whether there is one.
 */
export function watchWholeness({
  check,
  elapsed,
}: {
  readonly check: () => Promise<Failure | undefined>
  /** `Clock.elapsed` */
  readonly elapsed: () => number
}) {
  let verdict: { readonly at: number; readonly failure: Failure | undefined } | undefined
  let checking: Promise<void> | undefined
  const refresh = (): Promise<void> => {
    if (checking !== undefined) return checking
    const at = elapsed()
    const own = check().then(failure => {
      // After `expire`, only the requests that already wait for this check use its result.
      if (checking === own) verdict = { at, failure }
      if (failure !== undefined) throw failure
    })
    checking = own
    const end = (): void => {
      if (checking === own) checking = undefined
    }
    // Requests that do not wait for this check notice its failure by the age of the verdict.
    own.then(end, end)
    return own
  }
  let next: Promise<void> | undefined
  /** A check that begins after this call; all callers that wait for one share it. */
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
  return {
    /** Throws the failure, if there is one. Returns a promise if a check must end first. */
    require: (): Promise<void> | undefined => {
      const age = verdict === undefined ? STALE_MS : elapsed() - verdict.at
      if (age >= STALE_MS) return refresh()
      if (age >= FRESH_MS) refresh().catch(() => undefined)
      if (verdict?.failure !== undefined) throw verdict.failure
      return undefined
    },
    /** Like `require`, with a check that begins now: for a request that missed a possibly lost document. */
    requireNow: checkFromNow,
    /** Makes the next request wait for a new check. */
    expire: (): void => {
      verdict = undefined
      checking = undefined
    },
  }
}
