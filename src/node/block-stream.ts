import { joinSignals } from '#time/signals.ts'
import { type FetchedRange, fetchBlock, fetchRange, linked, proveFetchedRange } from './fetch-blocks.ts'
import type { FetchContext } from './fetching.ts'
import { abortedByCaller } from './http.ts'
import type { Proven } from './prove-blocks.ts'
import { prefetchRanges, type RangesAhead } from './ranges-ahead.ts'
import { createShares } from './shares.ts'

export type StreamOptions = {
  readonly from: number
  readonly to: number
  /** Hash of block `from` − 1. */
  readonly parent?: string
  /** Height of the node's last irreversible block; default: `to`. */
  readonly lib?: number
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
      const { named, rest } = await joined(fetching, { held, parent }, blocks)
      yield* untilAborted(named, signal)
      parent = named.at(-1)?.block.hash ?? parent
      held = rest
    }
    if (held.length > 0 && to < lib) {
      // The next block of the node names the last one as its parent.
      const child = await fetchBlock(fetching, to + 1, undefined)
      held = (await joined(fetching, { held, parent }, [child])).named
    }
    yield* untilAborted(held, signal)
  } finally {
    ends.abort('left')
    ends.release()
  }
}

/** Several nodes together hold at most twice as many ranges as one node alone. */
const SEVERAL = 2

type Wanted = Pick<StreamOptions, 'from' | 'to' | 'inFlight' | 'rangeEnd'>

/** The ranges of a stream. A single block, usual when following the chain, is requested when it is taken. */
function openRanges(fetching: FetchContext, wanted: Wanted): RangesAhead<FetchedRange> {
  const { from, to, rangeEnd } = wanted
  if (from === to) {
    const alone: FetchedRange[] = [{ from, to, ends: true }]
    return { next: async () => alone.shift() }
  }
  return rangeEnd === undefined ? sharedRanges(fetching, wanted) : givenRanges(fetching, wanted, rangeEnd)
}

function sharedRanges(fetching: FetchContext, { from, to, inFlight }: Wanted): RangesAhead<FetchedRange> {
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
    most: inFlight * Math.min(SEVERAL, pool.members.length),
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
      if (range !== undefined) most = countPrefetchedRanges(range, inFlight)
      return range
    },
  }
}

/** Number of ranges of this length to read ahead; at least as many as are requested from a node at the same time. */
function countPrefetchedRanges({ proved, answers }: FetchedRange, inFlight: number): number {
  const characters = proved?.bodies.length ?? answers?.lists.length ?? 0
  const fitting = Math.floor(OF_ARCHIVE.characters / Math.max(1, characters))
  return Math.max(inFlight, Math.min(OF_ARCHIVE.ranges, fitting))
}

function* untilAborted(blocks: readonly Proven[], signal: AbortSignal): Generator<Proven, void, void> {
  for (const block of blocks) {
    yield block
    if (signal.aborted) throw abortedByCaller(signal)
  }
}

/**
 * `held`: blocks whose last one has not been named as a parent yet; `parent`: the hash of the block before
 * them, if known.
 */
type Held = { readonly held: readonly Proven[]; readonly parent: string | undefined }

/** Joins a range to the held blocks, whose last one it names. A block of either that does not fit is replaced. */
async function joined(
  fetching: FetchContext,
  { held, parent }: Held,
  range: readonly Proven[],
): Promise<{ readonly named: readonly Proven[]; readonly rest: readonly Proven[] }> {
  const before = held.slice(0, -1)
  const seam = held.slice(-1)
  const run = await linked([...seam, ...range], {
    parent: before.at(-1)?.block.hash ?? parent,
    fetch: (height, child) => fetchBlock(fetching, height, child),
  })
  return { named: [...before, ...run.slice(0, seam.length)], rest: run.slice(seam.length) }
}
