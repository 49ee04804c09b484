/** Something that is done to the service or its loader, for as long as it may make one of them refuse. */
export type Cause = {
  readonly name: string
  /** What the service may answer meanwhile: statuses, 0 for no answer at all. */
  readonly statuses: readonly number[]
  /** What the loader, or a command, may say when it ends by itself or pauses. */
  readonly says: RegExp
}

export type Causes = {
  /** Begins a cause; what it returns ends it. */
  begin(cause: Cause): () => void
  /** A mark in time, to be given to `since`. */
  mark(): number
  /** All that was in force at some time since the mark. */
  since(mark: number): readonly Cause[]
}

/** A cause is kept until nothing that began while it was in force can still be under way. */
const KEPT = 64

export const openCauses = (): Causes => {
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

/** Work during which a cause is in force. */
export const within = async (causes: Causes, cause: Cause, work: () => Promise<void>): Promise<void> => {
  const end = causes.begin(cause)
  try {
    await work()
  } finally {
    end()
  }
}
