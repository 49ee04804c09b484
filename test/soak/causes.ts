/** A disturbance of the service or its loader, for as long as it may make one of them refuse. */
export type Cause = {
  readonly name: string
  /** Statuses that the service may answer meanwhile. 0: no answer at all. */
  readonly statuses: readonly number[]
  /** Messages that the loader or a command may end or pause with. */
  readonly says: RegExp
}

export type Causes = {
  /** Begins a cause. The returned function ends it. */
  begin(cause: Cause): () => void
  /** A point in time for `since`. */
  mark(): number
  /** All causes in force at some time since the mark. */
  since(mark: number): readonly Cause[]
}

/** Number of ended causes that are kept: more than operations begun during a cause can outlast. */
const KEPT = 64

export function openCauses(): Causes {
  let clock = 0
  const ended: { readonly cause: Cause; readonly at: number }[] = []
  const active = new Set<{ readonly cause: Cause }>()
  return {
    begin: cause => {
      const one = { cause }
      active.add(one)
      clock++
      return () => {
        if (!active.delete(one)) return
        ended.push({ cause, at: clock++ })
        if (ended.length > KEPT) ended.shift()
      }
    },
    mark: () => clock,
    since: mark => [
      ...ended.filter(({ at }) => at >= mark).map(({ cause }) => cause),
      ...[...active].map(({ cause }) => cause),
    ],
  }
}

/** Runs work while a cause is in force. */
export async function within(causes: Causes, cause: Cause, work: () => Promise<void>): Promise<void> {
  const end = causes.begin(cause)
  try {
    await work()
  } finally {
    end()
  }
}
