import { PublicFailure } from '#failure/failure.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { type ListDoc, listOf, lists } from '#indices/list.ts'
import { producers } from '#indices/producer.ts'
import type { StateIndex } from '#indices/registry.ts'
import { parseEntries, type SeriesDoc, series, seriesOf } from '#indices/series.ts'
import { votes } from '#indices/vote.ts'
import { countDocCharacters } from '#store/bounded-cache.ts'
import type { HeldView, View } from '#store/port.ts'
import type { Context, Text } from '../define.ts'
import { readBlock, readBlockTimes, readOneChain } from './blocks-at.ts'
import { orderInRuns, ROWS_AT_ONCE } from './listing.ts'
import { countRangeRows } from './numbered.ts'
import type { StateMoment } from './point.ts'
import { CHANGES_OF_PART, createHeightTest, findSeries, readHeldOfAll, readPartRuns, readSums } from './series.ts'

/** A member of a ranking and its figure, in the smallest unit. */
type Ranked = readonly [name: string, units: bigint]

/** Milliseconds of work after which other requests get a turn. */
const SLICE_MS = 10

/**
 * Must be called after each part of long work, with the number of rows that were read for it. Throws when the work
 * exceeds its limit, when the plan has no request left for it, or when the request is aborted.
 */
type CountPart = (rows: number) => Promise<void>

type WorkContext = Pick<Context, 'clock' | 'signal' | 'longWork'>

/**
 * Measures the time of the parts of a work, without the work of other requests between them, and counts a request for
 * each further thousand rows. `mostMs` undefined: no limit.
 */
function createPartMeter({ clock, signal, longWork }: WorkContext, mostMs: number | undefined, what: Text): CountPart {
  let since = clock.elapsed()
  let [worked, slice, room] = [0, 0, ROWS_AT_ONCE]
  return async rows => {
    signal.throwIfAborted()
    if (longWork !== undefined) for (room -= rows; room < 0; room += ROWS_AT_ONCE) await longWork.more()
    const now = clock.elapsed()
    worked += now - since
    slice += now - since
    since = now
    if (mostMs !== undefined && worked > mostMs)
      throw new PublicFailure(
        'unavailable',
        `${what.en} take longer than ${mostMs / 1_000} s to find; request them with format=ndjson or format=csv, which have no such limit.`,
        {
          zh: `查找${what.zh}需要超过 ${mostMs / 1_000} 秒；请使用没有此限制的 format=ndjson 或 format=csv。`,
          retryable: false,
        },
      )
    if (slice < SLICE_MS) return
    // A store that answers synchronously does not yield to the event loop.
    await clock.sleep(0, signal)
    slice = 0
    since = clock.elapsed()
  }
}

/** Work on the state after an irreversible block. */
type PastWork<T> = {
  /** Name of the result, as the subject of a sentence: "The holders of token 'iost' at block 5". */
  readonly what: Text
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
    return await readOneChain(kept, [await readBlock(view, height), kept.at], () => make(kept, part))
  } finally {
    held?.close()
    restore?.()
  }
}

type RankingContext = PastContext & Pick<Context, 'isDryRun' | 'rankings'>

/**
 * A ranking of the past, from the cache or computed. A computed one waits for its permit; if an equal one was computed
 * meanwhile, it is taken from the cache. Throws like `runPastWork`, 'forbidden' for more rows than the caller may have
 * read, 'rate_limited' for more than its plan allows today, and 'unavailable' when too many wait.
 */
async function readPastRanking<T extends object>(
  context: RankingContext,
  /** `name`: in the cache, together with the block. */
  ranking: PastWork<readonly T[]> & { readonly name: string },
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
  return longWork === undefined ? compute() : longWork.enqueue(compute, isWhole === true)
}

/** Refuses work that the caller may not have done, before it begins. */
async function requireRows({ view, longWork }: RankingContext, { what, countRows }: PastWork<unknown>): Promise<void> {
  if (longWork === undefined) return
  const { mostRows } = longWork
  const rows = await countRows(view)
  if (mostRows !== undefined && rows > mostRows)
    throw new PublicFailure(
      'forbidden',
      `${what.en} take ${rows} rows to find, and without an API key of one's own at most ${mostRows} rows are read for an answer; ask the operator for a key.`,
      {
        zh: `查找${what.zh}需要读取 ${rows} 行；没有自己的 API key 时，每个回答最多读取 ${mostRows} 行。请向运营者申请自己的 API key。`,
      },
    )
  longWork.require(Math.max(0, Math.ceil(rows / ROWS_AT_ONCE) - 1))
}

/**
 * The voters of a producer after a block: votes descending, then by name. They are computed by adding up the changes
 * until then, or by subtracting the later ones from the current votes, whichever are fewer. Throws like `readPastRanking`.
 */
export const readPastVoters = (context: RankingContext, producer: string, height: number): Promise<readonly Ranked[]> =>
  readPastRanking(context, {
    name: `voters/${producer}`,
    height,
    what: {
      en: `The voters of producer '${producer}' at block ${height}`,
      zh: `生产者 '${producer}' 在区块 ${height} 的投票者`,
    },
    state: [votes, series],
    countRows: view => countTallied(view, { producer, height }),
    make: (view, part) => tallyVoters(view, { producer, height, part }),
  })

type Then = { readonly producer: string; readonly height: number; readonly part: CountPart }

/** The parts of a producer's votes: all of them, the last one up to a block, and whether later ones are undone. */
async function readVoterReach(view: View, { producer, height }: Omit<Then, 'part'>) {
  const changes = await findSeries(view, seriesOf.producer(producer))
  const [part] = (await changes?.lastParts([createHeightTest(height)])) ?? []
  if (changes === undefined || part === undefined) return undefined
  const all = changes.partCount
  return { changes, part, all, isUndone: all - part.part < part.part }
}

/** The votes and changes that `tallyVoters` reads. */
async function countTallied(view: View, then: Omit<Then, 'part'>): Promise<number> {
  const reach = await readVoterReach(view, then)
  if (reach === undefined) return 0
  const { part, all, isUndone } = reach
  const voters = isUndone ? ((await view.get(producers, then.producer))?.voter_count ?? 0) : 0
  return voters + CHANGES_OF_PART * (isUndone ? all - part.part : part.part + 1)
}

/** The voters as part of other work; `part` is called after each part. */
async function tallyVoters(view: View, { producer, height, part: done }: Then): Promise<readonly Ranked[]> {
  const reach = await readVoterReach(view, { producer, height })
  if (reach === undefined) return []
  const { changes, part, all, isUndone } = reach
  const tally = new Map<string, bigint>()
  if (isUndone)
    for await (const docs of orderInRuns(view, { index: votes, order: 'voters', group: producer })) {
      for (const doc of docs) tally.set(doc.voter, doc.votes)
      await done(docs.length)
    }
  for await (const parts of readPartRuns(changes, isUndone ? [part.part, all - 1] : [0, part.part])) {
    for (const each of parts) count(tally, each, { height, isUndone })
    await done(CHANGES_OF_PART * parts.length)
  }
  return rankFigures(tally)
}

/** Adds the changes of a part up to a height, or subtracts those after it. */
function count(
  tally: Map<string, bigint>,
  { entries, height: base }: SeriesDoc,
  { height, isUndone }: { readonly height: number; readonly isUndone: boolean },
): void {
  for (const entry of parseEntries(entries, base)) {
    if (entry.height > height !== isUndone) continue
    const [voter = ''] = entry.more
    tally.set(voter, (tally.get(voter) ?? 0n) + (isUndone ? -entry.change : entry.change))
  }
}

/** The members with a figure above zero: largest first, then by name. */
const rankFigures = (figures: Iterable<Ranked>): readonly Ranked[] =>
  [...figures]
    .filter(([, units]) => units > 0n)
    .sort(([a, many], [b, other]) => (many === other ? (a < b ? -1 : 1) : many > other ? -1 : 1))

/** A voter's votes at the first and the last of two blocks, in 10^-8 IOST. */
type Share = {
  readonly voter: string
  readonly first: bigint
  readonly last: bigint
  /** Sum of votes × nanoseconds between the two blocks. */
  readonly weight: bigint
}

type Running = { readonly first: bigint; votes: bigint; since: bigint; weight: bigint }

type Period = readonly [StateMoment, StateMoment]

/**
 * The shares of a producer's voters between the times of two blocks; a change counts from the time of its
 * block on. All voters with votes at any moment of the period are listed, by weight, largest first, then by
 * name. Throws like `readPastRanking`.
 */
export function readVoteShares(context: RankingContext, producer: string, period: Period): Promise<readonly Share[]> {
  const [start, end] = period
  return readPastRanking(context, {
    name: `shares/${producer}/${start.height}`,
    what: {
      en: `The shares of the voters of producer '${producer}' from block ${start.height} to ${end.height}`,
      zh: `生产者 '${producer}' 从区块 ${start.height} 到 ${end.height} 的投票者份额`,
    },
    height: end.height,
    state: [votes, series],
    countRows: async view => {
      const [before, within] = await Promise.all([
        countTallied(view, { producer, height: start.height }),
        countVoteChanges(view, producer, period),
      ])
      return before + within
    },
    make: (view, part) => addedUp(view, producer, { period, part }),
  })
}

async function addedUp(
  view: View,
  producer: string,
  { period, part }: { readonly period: Period; readonly part: CountPart },
): Promise<readonly Share[]> {
  const [start, end] = period
  const voters = new Map<string, Running>()
  for (const [voter, units] of await tallyVoters(view, { producer, height: start.height, part }))
    voters.set(voter, { first: units, votes: units, since: start.time, weight: 0n })
  for await (const { voter, change, time } of readVoteChanges(view, producer, { period, part })) {
    const known = voters.get(voter) ?? { first: 0n, votes: 0n, since: time, weight: 0n }
    advance(known, time)
    known.votes += change
    voters.set(voter, known)
  }
  return [...voters]
    .map(([voter, running]) => {
      advance(running, end.time)
      return { voter, first: running.first, last: running.votes, weight: running.weight }
    })
    .sort((a, b) => (a.weight === b.weight ? (a.voter < b.voter ? -1 : 1) : a.weight > b.weight ? -1 : 1))
}

function advance(of: Running, time: bigint): void {
  of.weight += of.votes * (time - of.since)
  of.since = time
}

type Vote = { readonly voter: string; readonly change: bigint; readonly time: bigint }

/** The series of a producer's votes, and the first and the last of its parts that have changes of a period. */
async function findVoteParts(view: View, producer: string, [start, end]: Period) {
  const changes = await findSeries(view, seriesOf.producer(producer))
  const [from, to] = (await changes?.lastParts([createHeightTest(start.height), createHeightTest(end.height)])) ?? []
  if (changes === undefined || to === undefined) return undefined
  return { changes, first: from?.part ?? 0, last: to.part }
}

/** The changes that `readVoteChanges` reads, approximately. */
async function countVoteChanges(view: View, producer: string, period: Period): Promise<number> {
  const parts = await findVoteParts(view, producer, period)
  return parts === undefined ? 0 : CHANGES_OF_PART * (parts.last - parts.first + 1)
}

/** Changes of a producer's votes after one block and up to another; `part` is called after each chunk. */
const readVoteChanges = async function* (
  view: View,
  producer: string,
  { period, part }: { readonly period: Period; readonly part: CountPart },
): AsyncGenerator<Vote, void, void> {
  const [start, end] = period
  const found = await findVoteParts(view, producer, period)
  if (found === undefined) return
  for await (const parts of readPartRuns(found.changes, [found.first, found.last])) {
    const entries = parts
      .flatMap(each => parseEntries(each.entries, each.height))
      .filter(({ height }) => height > start.height && height <= end.height)
    const heights = entries.map(({ height }) => height)
    const times = await readBlockTimes(view, heights)
    for (const { more, change, height } of entries)
      yield { voter: more[0] ?? '', change, time: times.get(height) as bigint }
    await part(entries.length)
  }
}

/** Number of owners whose balances are read at once. */
const AT_ONCE = 500

/** The holders of a token after a block: amounts above 0, descending, then by name. Throws like `readPastRanking`. */
export const readPastHolders = (context: RankingContext, token: string, height: number): Promise<readonly Ranked[]> =>
  readPastRanking(context, {
    name: `holders/${token}`,
    height,
    what: {
      en: `The holders of token '${token}' at block ${height}`,
      zh: `代币 '${token}' 在区块 ${height} 的持有者`,
    },
    state: [balances, series, lists],
    countRows: view => countRows(view, token, height),
    make: (view, part) => read(view, { token, height, part }),
  })

/** The balances and movements that are read if the first set of movements names all holders. */
async function countRows(view: View, token: string, height: number): Promise<number> {
  const movements = await readMovements(view, { token, height })
  const [first] = listReaches(token, movements)
  const at = first === 'until' ? height : view.at.height
  const [holders = 0n] = await readSums(view, [seriesOf.holders(token)], at)
  return Number(holders) + (first === 'until' ? movements.until : movements.count - movements.until)
}

type Since = { readonly token: string; readonly height: number; readonly part: CountPart }

async function read(view: View, since: Since): Promise<readonly Ranked[]> {
  const { token, height } = since
  const movements = await readMovements(view, since)
  // The number of holders at that height is known, so a set that lacks one of them is noticed.
  const [holders = 0n] = await readSums(view, [seriesOf.holders(token)], height)
  const figures = new Map<string, bigint>()
  for (const reach of listReaches(token, movements)) {
    const owners = await readOwners(view, since, { ...movements, reach })
    const fresh = owners.filter(owner => !figures.has(owner))
    for (const [owner, units] of await readFigures(view, since, fresh)) figures.set(owner, units)
    const ranked = rankFigures(figures)
    if (BigInt(ranked.length) === holders) return ranked
  }
  throw new PublicFailure('unavailable', `The holders of token '${token}' at block ${height} are not known.`, {
    zh: `代币 '${token}' 在区块 ${height} 的持有者无法得知。`,
    retryable: false,
  })
}

/** The available amount of each owner at that height. */
async function readFigures(
  view: View,
  { token, height, part }: Since,
  owners: readonly string[],
): Promise<readonly Ranked[]> {
  const figures: Ranked[] = []
  for (let from = 0; from < owners.length; from += AT_ONCE) {
    const some = owners.slice(from, from + AT_ONCE)
    const ids = some.map(owner => balanceId(token, owner))
    const held = await readHeldOfAll(view, ids, height)
    figures.push(...some.map((owner, at): Ranked => [owner, held[at]?.available ?? 0n]))
    await part(some.length)
  }
  return figures
}

/** Movements up to the block, or those after it. */
type Reach = 'until' | 'since'

/** The rows of all movements of a token: their list, their number, and the number up to the block. */
type Movements = { readonly list: ListDoc | undefined; readonly count: number; readonly until: number }

async function readMovements(view: View, { token, height }: Omit<Since, 'part'>): Promise<Movements> {
  const list = await view.get(lists, listOf.token(token))
  const count = list?.count ?? 0
  const rows = {
    count,
    moments: async (reading: View, ordinals: readonly number[]) =>
      list === undefined ? [] : reading.moments(list, ordinals),
  }
  const { total: until } = await countRangeRows(view, rows, { end_block: BigInt(height) })
  return { list, count, until }
}

/**
 * Sets of rows that name the holders of a token after a block, in the order in which they are tried. `since`: the
 * present holders and the parties of every later movement. `until`: the parties of every movement up to the block. The
 * set with fewer rows is tried first. If it lacks a holder, the other one is added:
 *
 * - `since` lacks owners whose last RAM a later transaction used up, because no row names them. They had received RAM
 *   by a movement before, so `until` includes them.
 * - `until` lacks recipients whose names are invalid, because no row names them. They can never send or use anything,
 *   so `since` includes them.
 *
 * The contribute of blocks has no rows, so its holders of the past are always looked for in `since` first: nobody
 * loses contribute without a movement.
 */
const listReaches = (token: string, { count, until }: Movements): readonly Reach[] =>
  token !== 'contribute' && until < count - until ? ['until', 'since'] : ['since', 'until']

async function readOwners(
  view: View,
  { token, part }: Since,
  { list, count, until, reach }: Movements & { readonly reach: Reach },
): Promise<readonly string[]> {
  const owners = new Set<string>()
  if (reach === 'since')
    for await (const docs of orderInRuns(view, { index: balances, order: 'holders', group: token })) {
      for (const { owner } of docs) owners.add(owner)
      // Each owner counts when its balance is read.
      await part(0)
    }
  const [first, last] = reach === 'until' ? [1, until] : [until + 1, count]
  for (let from = first; list !== undefined && from <= last; from += ROWS_AT_ONCE) {
    const records = await view.records(list, from, Math.min(last, from + ROWS_AT_ONCE - 1))
    for (const { from: giver, to } of records) owners.add(giver).add(to)
    await part(records.length)
  }
  return [...owners]
}
