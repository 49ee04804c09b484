import { PublicFailure } from '#failure/failure.ts'
import type { StateIndex } from '#indices/registry.ts'
import { charactersOf } from '#store/bounded-cache.ts'
import type { HeldView, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { blockAt, ofOneChain } from './blocks-at.ts'

/** Milliseconds of work after which other requests of the thread get a turn. */
const SLICE_MS = 10

/** Must be called after each part of long work. Throws when the work exceeds its limit or the request is aborted. */
export type Part = () => Promise<void>

type WorkContext = Pick<Context, 'clock' | 'signal'>

/**
 * Measures the time of the parts of a work, without the work of other requests between them. `mostMs`
 * undefined: no limit.
 */
const partsOf = ({ clock, signal }: WorkContext, mostMs: number | undefined, what: Name): Part => {
  let since = clock.elapsed()
  let [worked, slice] = [0, 0]
  return async () => {
    signal.throwIfAborted()
    const now = clock.elapsed()
    worked += now - since
    slice += now - since
    since = now
    if (mostMs !== undefined && worked > mostMs) throw tooMuch(what, mostMs)
    if (slice < SLICE_MS) return
    // A store that answers synchronously does not yield to the event loop.
    await clock.sleep(0, signal)
    slice = 0
    since = clock.elapsed()
  }
}

/** Name of a result, as the subject of a sentence: "The holders of token 'iost' at block 5". */
type Name = { readonly en: string; readonly zh: string }

/** Work on the state after an irreversible block. */
type PastWork<T> = {
  readonly what: Name
  readonly height: number
  /** The indices of state that the work reads. */
  readonly state: readonly StateIndex[]
  readonly make: (view: View, part: Part) => Promise<T>
}

type PastContext = WorkContext & Pick<Context, 'view' | 'isWhole' | 'rankingMs' | 'prolong'>

/**
 * Does work on the past: for a page within the service's time limit, for an export without one. The work
 * continues while later heights are published. Throws 'unavailable' when the limit is exceeded, or when a
 * repair rolls the block back.
 */
const doneThen = async <T>(context: PastContext, { what, height, state, make }: PastWork<T>): Promise<T> => {
  const { view, isWhole, rankingMs, prolong } = context
  const mostMs = isWhole === true ? undefined : rankingMs
  const restore = prolong?.(mostMs)
  let held: HeldView | undefined
  try {
    held = await view.hold?.(state)
    const part = partsOf(context, mostMs, what)
    if (held === undefined) return await make(view, part)
    const { view: kept } = held
    return await ofOneChain(kept, [await blockAt(view, height), kept.at], () => make(kept, part))
  } finally {
    held?.close()
    restore?.()
  }
}

/** The part of a context that rankings need. */
export type RankingContext = PastContext & Pick<Context, 'isDryRun' | 'rankings'>

/** A ranking of the past. */
type Ranking<T> = PastWork<readonly T[]> & {
  /** Its name in the cache, together with the block. */
  readonly name: string
}

/** A ranking of the past, from the cache or computed. Throws like `doneThen`. */
export const rankingOf = async <T extends object>(
  context: RankingContext,
  ranking: Ranking<T>,
): Promise<readonly T[]> => {
  const { view, isDryRun, rankings } = context
  const { name, height } = ranking
  const key = `${name}/${height}/${(await blockAt(view, height)).hash}`
  const known = rankings?.get(key)
  // Values in the cache under a name have the row type of the rankings of that name.
  if (known !== undefined) return known.value as readonly T[]
  if (isDryRun === true) return []
  const found = await doneThen(context, ranking)
  const characters = found.reduce((sum, row) => sum + 8 + charactersOf(row), 0)
  rankings?.put(key, found, characters)
  return found
}

const tooMuch = ({ en, zh }: Name, mostMs: number): Error =>
  new PublicFailure(
    'unavailable',
    `${en} take longer than ${mostMs / 1_000} s to find; request them with format=ndjson or format=csv, which have no such limit.`,
    {
      zh: `查找${zh}需要超过 ${mostMs / 1_000} 秒；请使用没有此限制的 format=ndjson 或 format=csv。`,
      retryable: false,
    },
  )
