import type { Context } from '../define.ts'
import type { Ranked } from './kept-rankings.ts'

/** Milliseconds for which work goes on before other requests of its thread have their turn. */
const SLICE_MS = 10

/** Work in many parts. To be called after each; throws where the whole may not take so long, or nobody waits for it. */
export type Part = () => Promise<void>

type Working = Pick<Context, 'clock' | 'signal'>

/** Counts the time that the parts of a work take, without that of others between them. `mostMs` undefined: it has no limit. */
const partsOf = (
  { clock, signal }: Working,
  mostMs: number | undefined,
  tooMuch: (mostMs: number) => Error,
): Part => {
  let since = clock.elapsed()
  let [worked, slice] = [0, 0]
  return async () => {
    signal.throwIfAborted()
    const now = clock.elapsed()
    worked += now - since
    slice += now - since
    since = now
    if (mostMs !== undefined && worked > mostMs) throw tooMuch(mostMs)
    if (slice < SLICE_MS) return
    // A store that answers within the call leaves the event loop no turn by itself.
    await clock.sleep(0, signal)
    slice = 0
    since = clock.elapsed()
  }
}

/** What a ranking of the past is made with. */
export type Ranking = {
  /** Its name among those that are kept. */
  readonly key: string
  readonly make: (part: Part) => Promise<readonly Ranked[]>
  readonly tooMuch: (mostMs: number) => Error
}

type Asked = Working & Pick<Context, 'isWhole' | 'isLook' | 'rankings' | 'rankingMs' | 'prolong'>

/**
 * A ranking of the past: the one that is kept, or one that is made, for a page within the limit of the service and for an
 * export in whatever time it takes. Throws what `tooMuch` gives beyond the limit.
 */
export const rankingOf = async (
  context: Asked,
  { key, make, tooMuch }: Ranking,
): Promise<readonly Ranked[]> => {
  const { isWhole, isLook, rankings, rankingMs, prolong } = context
  const known = rankings?.get(key)
  if (known !== undefined) return known.value
  if (isLook === true) return []
  const mostMs = isWhole === true ? undefined : rankingMs
  const restore = prolong?.(mostMs)
  try {
    const found = await make(partsOf(context, mostMs, tooMuch))
    keep(rankings, key, found)
    return found
  } finally {
    restore?.()
  }
}

const keep = (rankings: Context['rankings'], key: string, found: readonly Ranked[]): void => {
  const characters = found.reduce((sum, [name]) => sum + name.length + 16, 0)
  rankings?.put(key, found, characters)
}
