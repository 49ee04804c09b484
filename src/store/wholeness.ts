import type { Failure } from '#failure/failure.ts'

/** A verdict this old is still good, and begins the next look in the background, milliseconds. */
const FRESH_MS = 1_000
/** One this old is waited for: nobody has asked for a while, or the last looks failed. */
const STALE_MS = 2_000

/**
 * Whether a store is whole, by looks in the background, one a second at most while somebody asks. `look` gives what is
 * wrong, and throws when that can not be known.
 */
export const wholeness = ({
  look,
  now,
}: {
  readonly look: () => Promise<Failure | undefined>
  /** Milliseconds. */
  readonly now: () => number
}) => {
  let verdict: { readonly at: number; readonly failure: Failure | undefined } | undefined
  let looking: Promise<void> | undefined
  const lookOnce = async (): Promise<void> => {
    const at = now()
    verdict = { at, failure: await look() }
  }
  const refresh = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = undefined
    })
    // Whoever does not wait for it is told by the age of the verdict.
    looking.catch(() => {})
    return looking
  }
  let next: Promise<void> | undefined
  /** A look that begins from here on; all who wait for one share it. */
  const lookFromHere = (): Promise<void> => {
    if (looking === undefined) return refresh()
    next ??= looking
      .catch(() => {})
      .then(() => {
        next = undefined
        return refresh()
      })
    return next
  }
  const ageOf = ({ at }: { readonly at: number }): number => Math.abs(now() - at)
  return {
    /** Throws what is wrong. */
    require: async (): Promise<void> => {
      if (verdict === undefined || ageOf(verdict) >= STALE_MS) await refresh()
      else if (ageOf(verdict) >= FRESH_MS) void refresh()
      if (verdict?.failure !== undefined) throw verdict.failure
    },
    /** As `require`, by a look that begins now: for whoever met nothing where something may have been. */
    requireNow: async (): Promise<void> => {
      await lookFromHere()
      if (verdict?.failure !== undefined) throw verdict.failure
    },
    /** The next one asking waits for a look of its own. */
    lookAgain: (): void => {
      verdict = undefined
    },
  }
}
