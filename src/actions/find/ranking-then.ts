import { type Failure, PublicFailure } from '#failure/failure.ts'
import type { StateIndex } from '#indices/registry.ts'
import { countDocCharacters } from '#store/bounded-cache.ts'
import type { HeldView, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { ROWS_AT_ONCE } from '../list/list-rows.ts'
import { ofOneChain, readBlock } from './blocks-at.ts'

/** Milliseconds of work after which other requests get a turn. */
const SLICE_MS = 10

/**
 * Must be called after each part of long work, with the number of rows that were read for it. Throws when the work
 * exceeds its limit, when the plan has no request left for it, or when the request is aborted.
 */
export type CountPart = (rows: number) => Promise<void>

type WorkContext = Pick<Context, 'clock' | 'signal' | 'longWork'>

/**
 * Measures the time of the parts of a work, without the work of other requests between them, and counts a request for
 * each further thousand rows. `mostMs` undefined: no limit.
 */
function createPartMeter({ clock, signal, longWork }: WorkContext, mostMs: number | undefined, what: Name): CountPart {
  let since = clock.elapsed()
  let [worked, slice, room] = [0, 0, ROWS_AT_ONCE]
  return async rows => {
    signal.throwIfAborted()
    if (longWork !== undefined) for (room -= rows; room < 0; room += ROWS_AT_ONCE) await longWork.more()
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
  /** The number of rows that the work will read, approximately. */
  readonly countRows: (view: View) => Promise<number>
  readonly make: (view: View, part: CountPart) => Promise<T>
}

type PastContext = WorkContext & Pick<Context, 'view' | 'isWhole' | 'rankingMs' | 'prolong'>

/**
 * Does work on the past: for a page within the service's time limit, for an export without one. The work
 * continues while later heights are published. Throws 'unavailable' when the limit is exceeded, or when a
 * repair rolls the block back.
 */
async function runPastWork<T>(context: PastContext, { what, height, state, make }: PastWork<T>): Promise<T> {
  const { view, isWhole, rankingMs, prolong } = context
  const mostMs = isWhole === true ? undefined : rankingMs
  const restore = prolong?.(mostMs)
  let held: HeldView | undefined
  try {
    held = await view.hold?.(state)
    const part = createPartMeter(context, mostMs, what)
    if (held === undefined) return await make(view, part)
    const { view: kept } = held
    return await ofOneChain(kept, [await readBlock(view, height), kept.at], () => make(kept, part))
  } finally {
    held?.close()
    restore?.()
  }
}

/** The part of a context that rankings need. */
export type RankingContext = PastContext & Pick<Context, 'isDryRun' | 'rankings' | 'longWork'>

/** A ranking of the past. */
type Ranking<T> = PastWork<readonly T[]> & {
  /** Its name in the cache, together with the block. */
  readonly name: string
}

/**
 * A ranking of the past, from the cache or computed. A computed one waits for its turn; if an equal one was computed
 * meanwhile, it is taken from the cache. Throws like `runPastWork`, 'forbidden' for more rows than the caller may have
 * read, 'rate_limited' for more than its plan allows today, and 'unavailable' when too many wait.
 */
export async function readPastRanking<T extends object>(
  context: RankingContext,
  ranking: Ranking<T>,
): Promise<readonly T[]> {
  const { view, isDryRun, isWhole, rankings, longWork } = context
  const { name, height } = ranking
  const key = `${name}/${height}/${(await readBlock(view, height)).hash}`
  // Values in the cache under a name have the row type of the rankings of that name.
  const known = (): readonly T[] | undefined => rankings?.get(key)?.value as readonly T[] | undefined
  const before = known()
  if (before !== undefined) return before
  if (isDryRun === true) return []
  await requireRows(context, ranking)
  const compute = async (): Promise<readonly T[]> => {
    const meanwhile = known()
    if (meanwhile !== undefined) return meanwhile
    const found = await runPastWork(context, ranking)
    const characters = found.reduce((sum, row) => sum + 8 + countDocCharacters(row), 0)
    rankings?.put(key, found, characters)
    return found
  }
  return longWork === undefined ? compute() : longWork.inTurn(compute, isWhole === true)
}

/** Refuses work that the caller may not have done, before it begins. */
async function requireRows({ view, longWork }: RankingContext, { what, countRows }: PastWork<unknown>): Promise<void> {
  if (longWork === undefined) return
  const { mostRows } = longWork
  const rows = await countRows(view)
  if (mostRows !== undefined && rows > mostRows) throw tooManyRows(what, rows, mostRows)
  longWork.require(Math.max(0, Math.ceil(rows / ROWS_AT_ONCE) - 1))
}

function tooManyRows({ en, zh }: Name, rows: number, most: number): Failure {
  return new PublicFailure(
    'forbidden',
    `${en} take ${rows} rows to find, and without an API key of one's own at most ${most} rows are read for an answer; ask the operator for a key.`,
    {
      zh: `查找${zh}需要读取 ${rows} 行；没有自己的 API key 时，每个回答最多读取 ${most} 行。请向运营者申请自己的 API key。`,
    },
  )
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
