import { PublicFailure } from '#failure/failure.ts'
import type { StateIndex } from '#indices/registry.ts'
import { charactersOf } from '#store/bounded-cache.ts'
import type { Held, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { blockAt, ofOneChain } from './blocks-at.ts'

/** Milliseconds for which work goes on before other requests of its thread have their turn. */
const SLICE_MS = 10

/** To be called after each part of a long work; throws when the whole takes too long, or nobody waits for it. */
export type Part = () => Promise<void>

type Working = Pick<Context, 'clock' | 'signal'>

/** Counts the time that the parts of a work take, without that of others between them. `mostMs` undefined: it has no limit. */
const partsOf = ({ clock, signal }: Working, mostMs: number | undefined, what: Name): Part => {
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
    // A store that answers within the call leaves the event loop no turn by itself.
    await clock.sleep(0, signal)
    slice = 0
    since = clock.elapsed()
  }
}

/** What is made of the past, as the subject of a sentence: "The holders of token 'iost' at block 5". */
type Name = { readonly en: string; readonly zh: string }

/** Work on what was so after an irreversible block. */
type PastWork<T> = {
  readonly what: Name
  readonly height: number
  /** The indices of state that it reads. */
  readonly state: readonly StateIndex[]
  readonly make: (view: View, part: Part) => Promise<T>
}

type Asked = Working & Pick<Context, 'view' | 'isWhole' | 'rankingMs' | 'prolong'>

/**
 * Does work on the past: for a page within the service's limit of time, for an export without one. It goes on while later
 * heights are published. Throws 'unavailable' beyond the limit, and where a repair takes the block back.
 */
const doneThen = async <T>(context: Asked, { what, height, state, make }: PastWork<T>): Promise<T> => {
  const { view, isWhole, rankingMs, prolong } = context
  const mostMs = isWhole === true ? undefined : rankingMs
  const restore = prolong?.(mostMs)
  let held: Held | undefined
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

/** What rankings are made with. */
export type RankingContext = Asked & Pick<Context, 'isLook' | 'rankings'>

/** A ranking of the past. */
type Ranking<T> = PastWork<readonly T[]> & {
  /** Its name among those of the block that are kept. */
  readonly name: string
}

/** A ranking of the past: the one that is kept, or one that is made. Throws as `doneThen` does. */
export const rankingOf = async <T extends object>(
  context: RankingContext,
  ranking: Ranking<T>,
): Promise<readonly T[]> => {
  const { view, isLook, rankings } = context
  const { name, height } = ranking
  const key = `${name}/${height}/${(await blockAt(view, height)).hash}`
  const known = rankings?.get(key)
  // A value that was kept under a name has the type of the rankings of that name.
  if (known !== undefined) return known.value as readonly T[]
  if (isLook === true) return []
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
