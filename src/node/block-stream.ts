import { joinSignals } from '#time/deadline.ts'
import type { HeightRange } from './bulk.ts'
import { type FetchedRange, fetchBlock, fetchRange, linkBlocks, proveFetchedRange } from './fetch-blocks.ts'
import { abortedByCaller } from './http.ts'
import { isAvailable, type Member, type NodePool } from './pool.ts'
import type { FetchContext, Proven } from './prove-blocks.ts'

/**
 * The number of ranges that each node is asked for at the same time, by how it keeps up with the other nodes.
 * Only events are counted, so a node is judged by its peers and not by the clock.
 */
type Shares = {
  /**
   * Chooses the node for a range up to block `upTo`, but none of `without`, and takes one of its places.
   * undefined: no such node has a free place.
   */
  take(upTo: number, without?: ReadonlyMap<Member, unknown>): Member | undefined
  /** A range has arrived from the node, in its turn (`inTurn`) or after ranges that were requested later. */
  noteArrival(member: Member, inTurn: boolean): void
  /** The request was given up or has failed, so its place is free again. */
  freePlace(member: Member): void
  /** Other ranges have waited for the node, and another node is asked for its range. */
  noteLate(member: Member): void
}

type Share = {
  places: number
  taken: number
  /** Time of its last request, counted in ranges. */
  turn: number
  /** Ranges that other nodes are asked for before this node is asked again. */
  out: number
  /** Number of ranges that it sat out last. */
  wasOut: number
}

/** Number of ranges that a late node with a single place sits out: the first time, and at most. */
const OUT = { first: 8, most: 256 }

/** Shares in which each node has at most `most` places. */
export function createShares(pool: NodePool, now: () => number, most: number): Shares {
  const shares = new Map<Member, Share>()
  const shareOf = (member: Member): Share => {
    const known = shares.get(member)
    if (known !== undefined) return known
    const fresh = { places: most, taken: 0, turn: 0, out: 0, wasOut: 0 }
    shares.set(member, fresh)
    return fresh
  }
  let turn = 0
  const byTaken = (a: Member, b: Member): number =>
    shareOf(a).taken - shareOf(b).taken || shareOf(a).turn - shareOf(b).turn
  const narrow = (share: Share): void => {
    if (share.places === 1) {
      share.wasOut = Math.min(OUT.most, Math.max(OUT.first, 2 * share.wasOut))
      share.out = share.wasOut
    }
    share.places = Math.max(1, share.places >> 1)
  }
  return {
    take: (upTo, without) => {
      const fit = selectFitMembers(pool, upTo, now())
      const inside = fit.filter(member => shareOf(member).out === 0)
      const [chosen] = (inside.length > 0 ? inside : fit)
        .filter(member => shareOf(member).taken < shareOf(member).places && without?.has(member) !== true)
        .toSorted(byTaken)
      if (chosen === undefined) return undefined
      for (const share of shares.values()) share.out = Math.max(0, share.out - 1)
      turn += 1
      shareOf(chosen).turn = turn
      shareOf(chosen).taken += 1
      return chosen
    },
    noteArrival: (member, inTurn) => {
      const share = shareOf(member)
      share.taken -= 1
      if (!inTurn) return
      share.places = Math.min(most, share.places + 1)
      share.wasOut = 0
    },
    freePlace: member => {
      const share = shareOf(member)
      share.taken -= 1
      if (member.backoffUntil > now()) narrow(share)
    },
    noteLate: member => narrow(shareOf(member)),
  }
}

/** The nodes that have the block and answer; if none is known to, those that may: the request will show. */
function selectFitMembers({ members }: NodePool, upTo: number, now: number): readonly Member[] {
  const ours = members.filter(({ foreign, apart }) => foreign === undefined && apart === undefined)
  const awake = ours.filter(member => isAvailable(member, now))
  const high = awake.filter(({ lib }) => lib >= upTo)
  return [high, awake, ours].find(({ length }) => length > 0) ?? members
}

/**
 * Ranges that are fetched ahead, each from a node with a free place, and returned in order; undefined: there is none
 * left. `next` throws the error of the last node asked for the range.
 */
type RangesAhead<T> = { next(): Promise<T | undefined> }

type RangesAheadOptions<T> = {
  readonly shares: Shares
  /** The range that follows `before`; undefined: there is none. */
  readonly after: (before: HeightRange | undefined) => HeightRange | undefined
  readonly fetch: (range: HeightRange, from: { readonly member: Member; readonly signal: AbortSignal }) => Promise<T>
  /** Maximum number of ranges that are in flight, or have arrived but are not taken yet. */
  readonly most: number
  /** Aborts all requests. */
  readonly signal: AbortSignal
}

type RangeRequest<T> = {
  readonly range: HeightRange
  readonly got: PromiseWithResolvers<T>
  /** The nodes that are being asked for it. */
  readonly of: Map<Member, { readonly abort: (reason: unknown) => void }>
  /** Number of ranges that had arrived when this one was requested. */
  readonly before: number
  isDone: boolean
}

/**
 * A node is asked for its next range as soon as it has returned one, so each goes at its own pace. If the
 * next range to be taken is missing while later ones have arrived, another node with a free place is asked
 * for it too; the first answer counts.
 */
export function prefetchRanges<T>({ shares, after, fetch, most, signal }: RangesAheadOptions<T>): RangesAhead<T> {
  const ahead: RangeRequest<T>[] = []
  let last: HeightRange | undefined
  let isAwaited = false
  let arrived = 0

  const ask = createRangeAsker({ shares, fetch, signal }, ahead, isThere => {
    if (isThere) arrived += 1
    fill()
  })
  const fill = (): void => {
    while (ahead.length < most) {
      const range = after(last)
      const member = range && shares.take(range.to)
      if (range === undefined || member === undefined) break
      const got = Promise.withResolvers<T>()
      const asked: RangeRequest<T> = { range, got, of: new Map(), before: arrived, isDone: false }
      // The failure is thrown at the range's turn; until then it must not count as an unhandled rejection.
      got.promise.catch(() => undefined)
      ahead.push(asked)
      last = range
      ask(asked, member)
    }
    const [first] = ahead
    if (isAwaited && first !== undefined && arrived > first.before && holdsOthers(ahead, most)) askAgain(first)
  }
  const askAgain = (asked: RangeRequest<T>): void => {
    const member = shares.take(asked.range.to, asked.of)
    if (member === undefined) return
    for (const late of asked.of.keys()) shares.noteLate(late)
    ask(asked, member)
  }
  return {
    next: async () => {
      isAwaited = true
      fill()
      try {
        return await ahead[0]?.got.promise
      } finally {
        isAwaited = false
        ahead.shift()
      }
    },
  }
}

/** Asks a node for a range; `onOver` is called at the end, with true if the request returned the range. */
function createRangeAsker<T>(
  { shares, fetch, signal }: Pick<RangesAheadOptions<T>, 'shares' | 'fetch' | 'signal'>,
  ahead: readonly RangeRequest<T>[],
  onOver: (isThere: boolean) => void,
): (asked: RangeRequest<T>, member: Member) => void {
  const ask = (asked: RangeRequest<T>, member: Member): void => {
    const ends = joinSignals(signal)
    asked.of.set(member, ends)
    /** false: the request was given up before, and its place is already free. */
    const over = (): boolean => {
      ends.release()
      return asked.of.delete(member)
    }
    fetch(asked.range, { member, signal: ends.signal }).then(
      value => {
        if (!over()) return
        shares.noteArrival(member, !isOvertaken(ahead, asked))
        asked.isDone = true
        asked.got.resolve(value)
        giveUp(asked)
        onOver(true)
      },
      error => {
        if (!over()) return
        shares.freePlace(member)
        if (asked.of.size === 0) asked.got.reject(error)
        onOver(false)
      },
    )
  }
  const giveUp = ({ of }: RangeRequest<T>): void => {
    for (const [member, ends] of of) {
      of.delete(member)
      shares.freePlace(member)
      ends.abort('answered by another node')
    }
  }
  return ask
}

/** Whether a range that was requested later has arrived. */
const isOvertaken = <T>(ahead: readonly RangeRequest<T>[], asked: RangeRequest<T>): boolean =>
  ahead.slice(ahead.indexOf(asked) + 1).some(({ isDone }) => isDone)

/** Whether only the first range is late: half of the maximum have arrived, or all ranges after it. */
function holdsOthers<T>([first, ...others]: readonly RangeRequest<T>[], most: number): boolean {
  const arrived = others.filter(({ isDone }) => isDone).length
  return first?.isDone === false && (arrived >= most / 2 || arrived === others.length)
}

export type StreamOptions = {
  readonly from: number
  readonly to: number
  /** Hash of block `from` − 1. */
  readonly parent?: string | undefined
  /** Height of the node's last irreversible block; default: `to`. */
  readonly lib?: number | undefined
  /** Ranges requested from one node at the same time; with the size limit it bounds the bytes in memory. */
  readonly inFlight: number
  /** The last block of the range that starts at `from`; absent: as many blocks as the size of answers allows. */
  readonly rangeEnd?: ((from: number) => Promise<number>) | undefined
}

/**
 * Blocks in order, from all nodes that have them; several ranges are requested ahead. A range is yielded once
 * the block after it has named its last block as parent: without a signature, nothing else distinguishes an
 * invented block at its end from the chain's. Only the node's last irreversible block has no block after it.
 * A block that fails a check is fetched singly from every node; if none helps, the stream throws Failure
 * 'bad_block'. Leaving the loop early cancels the requests.
 */
export async function* blockStream(
  given: FetchContext,
  { from, to, parent: before, lib = to, inFlight, rangeEnd }: StreamOptions,
): AsyncGenerator<Proven, void, void> {
  const { signal } = given.context
  const ends = joinSignals(signal)
  const fetching: FetchContext = { ...given, context: { ...given.context, signal: ends.signal } }
  const ranges = openRanges(fetching, { from, to, inFlight, rangeEnd })
  let parent = before
  let held: readonly Proven[] = []
  try {
    for (let range = await ranges.next(); range !== undefined; range = await ranges.next()) {
      const blocks = await proveFetchedRange(fetching, range)
      const { named, rest } = await joinRange(fetching, { held, parent }, blocks)
      yield* yieldUntilAborted(named, signal)
      parent = named.at(-1)?.block.hash ?? parent
      held = rest
    }
    if (held.length > 0 && to < lib) {
      // The next block of the node names the last one as its parent.
      const child = await fetchBlock(fetching, to + 1, undefined)
      held = (await joinRange(fetching, { held, parent }, [child])).named
    }
    yield* yieldUntilAborted(held, signal)
  } finally {
    ends.abort('left')
    ends.release()
  }
}

type Wanted = Pick<StreamOptions, 'from' | 'to' | 'inFlight' | 'rangeEnd'>

/** The ranges of a stream. A single block, usual when following the chain, is requested when it is taken. */
function openRanges(fetching: FetchContext, wanted: Wanted): RangesAhead<FetchedRange> {
  const { from, to, rangeEnd } = wanted
  if (from === to) {
    const alone: FetchedRange[] = [{ from, to, ends: true }]
    return { next: async () => alone.shift() }
  }
  return rangeEnd === undefined ? createSharedRanges(fetching, wanted) : givenRanges(fetching, wanted, rangeEnd)
}

function createSharedRanges(fetching: FetchContext, { from, to, inFlight }: Wanted): RangesAhead<FetchedRange> {
  const { pool, clock, signal } = fetching.context
  return prefetchRanges({
    shares: createShares(pool, clock.elapsed, inFlight),
    after: before => {
      const first = before === undefined ? from : before.to + 1
      return first > to ? undefined : { from: first, to: Math.min(to, first + fetching.size.next() - 1) }
    },
    fetch: (range, { member, signal: ends }) =>
      fetchRange(
        { ...fetching, context: { ...fetching.context, first: member, signal: ends } },
        { ...range, ends: range.to === to },
      ),
    // Several nodes together hold at most twice as many ranges as one node alone.
    most: inFlight * Math.min(2, pool.members.length),
    signal,
  })
}

/**
 * Number of ranges read ahead from an archive, and of characters in them: ranges of busy blocks have some 4 million
 * each. With half as many ranges, the proving thread is idle for a tenth of the time. These requests put no load on a
 * node.
 */
const OF_ARCHIVE = { ranges: 8, characters: 12_000_000 }

/** Ranges whose ends the source determines. The source is an archive, which counts as a single node. */
function givenRanges(
  fetching: FetchContext,
  { from, to, inFlight }: Wanted,
  endOf: (from: number) => Promise<number>,
): RangesAhead<FetchedRange> {
  const ahead: Promise<FetchedRange>[] = []
  let most = Math.max(inFlight, OF_ARCHIVE.ranges)
  let next = from
  return {
    next: async () => {
      while (ahead.length < most && next <= to) {
        const last = Math.min(to, await endOf(next))
        const range = fetchRange(fetching, { from: next, to: last, ends: last === to })
        // The failure is thrown at the range's turn; until then it must not count as an unhandled rejection.
        range.catch(() => undefined)
        ahead.push(range)
        next = last + 1
      }
      const range = await ahead.shift()
      const characters = range?.proved?.bodies.length ?? range?.answers?.lists.length ?? 0
      const fitting = Math.floor(OF_ARCHIVE.characters / Math.max(1, characters))
      // At least as many as are requested from a node at the same time.
      most = Math.max(inFlight, Math.min(OF_ARCHIVE.ranges, fitting))
      return range
    },
  }
}

function* yieldUntilAborted(blocks: readonly Proven[], signal: AbortSignal): Generator<Proven, void, void> {
  for (const block of blocks) {
    yield block
    if (signal.aborted) throw abortedByCaller(signal)
  }
}

/**
 * Joins a range to the held blocks, whose last one it names; `parent`: the hash of the block before them, if known. A
 * block of either that does not fit is replaced.
 */
async function joinRange(
  fetching: FetchContext,
  { held, parent }: { readonly held: readonly Proven[]; readonly parent: string | undefined },
  range: readonly Proven[],
): Promise<{ readonly named: readonly Proven[]; readonly rest: readonly Proven[] }> {
  const before = held.slice(0, -1)
  const seam = held.slice(-1)
  const run = await linkBlocks([...seam, ...range], {
    parent: before.at(-1)?.block.hash ?? parent,
    fetch: (height, child) => fetchBlock(fetching, height, child),
  })
  return { named: [...before, ...run.slice(0, seam.length)], rest: run.slice(seam.length) }
}
