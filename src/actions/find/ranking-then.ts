import { Failure, PublicFailure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { Held, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { Ranked } from './kept-rankings.ts'

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
export type PastWork<T> = {
  readonly what: Name
  readonly height: number
  /** The indices of state that it reads. */
  readonly state: readonly StateIndex[]
  readonly make: (view: View, part: Part) => Promise<T>
}

type Asked = Working & Pick<Context, 'view' | 'isWhole' | 'rankingMs' | 'prolong'>

/**
 * Does work on the past within the limit of the service for a page, and in whatever time it takes for an export. It goes on
 * while later heights are published. Throws 'unavailable' beyond the limit, and where a repair takes the block back.
 */
export const doneThen = async <T>(context: Asked, { what, height, state, make }: PastWork<T>): Promise<T> => {
  const { view, isWhole, rankingMs, prolong } = context
  const mostMs = isWhole === true ? undefined : rankingMs
  const restore = prolong?.(mostMs)
  let held: Held | undefined
  try {
    held = await view.hold?.(state)
    const part = partsOf(context, mostMs, what)
    if (held === undefined) return await make(view, part)
    const hash = await hashAt(view, height)
    const [made] = await Promise.allSettled([make(held.view, part)])
    // Afterwards: rows are read as they are now, so both blocks must be of the chain still, and what failed may have failed
    // for that.
    const { at } = held.view
    if ((await hashAt(held.view, height)) !== hash || (await hashAt(held.view, at.height)) !== at.hash)
      throw new Failure('unavailable', `Blocks were taken back by a repair while block ${height} was read.`)
    if (made.status === 'rejected') throw made.reason
    return made.value
  } finally {
    held?.close()
    restore?.()
  }
}

const hashAt = async (view: View, height: number): Promise<string | undefined> =>
  (await view.get(blocks, blockId(height)))?.hash

/** A ranking of the past. */
export type Ranking = PastWork<readonly Ranked[]> & {
  /** Its name among those of the block that are kept. */
  readonly name: string
}

/** A ranking of the past: the one that is kept, or one that is made. Throws as `doneThen` does. */
export const rankingOf = async (
  context: Asked & Pick<Context, 'isLook' | 'rankings'>,
  ranking: Ranking,
): Promise<readonly Ranked[]> => {
  const { view, isLook, rankings } = context
  const { name, height } = ranking
  const key = `${name}/${height}/${await hashAt(view, height)}`
  const known = rankings?.get(key)
  if (known !== undefined) return known.value
  if (isLook === true) return []
  const found = await doneThen(context, ranking)
  const characters = found.reduce((sum, [member]) => sum + member.length + 16, 0)
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
