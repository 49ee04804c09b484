import { joinSignals } from '#time/signals.ts'
import { blocksIn, type FetchedRange, fetchBlock, fetchRange, linked } from './fetch-blocks.ts'
import type { Fetching } from './fetching.ts'
import { endedByCaller } from './http.ts'
import type { Proven } from './prove-blocks.ts'
import { type RangesAhead, rangesAhead } from './ranges-ahead.ts'
import { createShares } from './shares.ts'

export type StreamOptions = {
  readonly from: number
  readonly to: number
  /** Hash of block `from` − 1. */
  readonly parent?: string
  /** The node's last irreversible block; absent: `to`. */
  readonly lib?: number
  /** Ranges asked of one node at the same time: with the answers' size limit it bounds the bytes held. */
  readonly inFlight: number
  /** The last block of the range that begins with a block; absent: as many as the answers' size allows. */
  readonly rangeEnd?: ((from: number) => Promise<number>) | undefined
}

/**
 * Blocks in order, several ranges asked for ahead, of all nodes that have them. A range is handed on when the block behind
 * it has named its last one as parent: without a signature, nothing else tells a made-up block at its end from the chain's.
 * Only at the node's last irreversible block there is none behind. Blocks that do not fit are asked for again by themselves at
 * every node, then the stream throws Failure 'bad_block'. Leaving the loop early ends the requests.
 */
export async function* blockStream(
  given: Fetching,
  { from, to, parent: before, lib = to, inFlight, rangeEnd }: StreamOptions,
): AsyncGenerator<Proven, void, void> {
  const { signal } = given.asking
  const ends = joinSignals(signal)
  const fetching: Fetching = { ...given, asking: { ...given.asking, signal: ends.signal } }
  const ranges = rangesOf(fetching, { from, to, inFlight, rangeEnd })
  let parent = before
  let held: readonly Proven[] = []
  try {
    for (let range = await ranges.next(); range !== undefined; range = await ranges.next()) {
      const blocks = await blocksIn(fetching, range)
      const { named, rest } = await joined(fetching, { held, parent }, blocks)
      yield* untilAborted(named, signal)
      parent = named.at(-1)?.block.hash ?? parent
      held = rest
    }
    if (held.length > 0 && to < lib) {
      // The node's next block names the last one.
      const child = await fetchBlock(fetching, to + 1, undefined)
      held = (await joined(fetching, { held, parent }, [child])).named
    }
    yield* untilAborted(held, signal)
  } finally {
    ends.abort('left')
    ends.release()
  }
}

/** Of several nodes together no more than twice as many ranges are held as of one. */
const SEVERAL = 2

type Wanted = Pick<StreamOptions, 'from' | 'to' | 'inFlight' | 'rangeEnd'>

/** The ranges of a stream. A block alone, as most that follow the chain are, is asked for when it is taken. */
const rangesOf = (fetching: Fetching, wanted: Wanted): RangesAhead<FetchedRange> => {
  const { from, to, rangeEnd } = wanted
  if (from === to) {
    const alone: FetchedRange[] = [{ from, to, ends: true }]
    return { next: async () => alone.shift() }
  }
  return rangeEnd === undefined ? sharedRanges(fetching, wanted) : givenRanges(fetching, wanted, rangeEnd)
}

const sharedRanges = (fetching: Fetching, { from, to, inFlight }: Wanted): RangesAhead<FetchedRange> => {
  const { pool, clock, signal } = fetching.asking
  return rangesAhead({
    shares: createShares(pool, clock.elapsed, inFlight),
    after: before => {
      const first = before === undefined ? from : before.to + 1
      return first > to ? undefined : { from: first, to: Math.min(to, first + fetching.size.next() - 1) }
    },
    fetch: (range, { member, signal: ends }) =>
      fetchRange(
        { ...fetching, asking: { ...fetching.asking, first: member, signal: ends } },
        { ...range, ends: range.to === to },
      ),
    most: inFlight * Math.min(SEVERAL, pool.members.length),
    signal,
  })
}

/**
 * Ranges that are read ahead of an archive: with half as many, the thread that proves has nothing to do for a tenth of the time.
 * No node has to answer them.
 */
const OF_ARCHIVE = 8

/** Ranges of which the source says where each ends: an archive, which is one node alone. */
const givenRanges = (
  fetching: Fetching,
  { from, to, inFlight }: Wanted,
  endOf: (from: number) => Promise<number>,
): RangesAhead<FetchedRange> => {
  const ahead: Promise<FetchedRange>[] = []
  const most = Math.max(inFlight, OF_ARCHIVE)
  let next = from
  return {
    next: async () => {
      while (ahead.length < most && next <= to) {
        const last = Math.min(to, await endOf(next))
        const range = fetchRange(fetching, { from: next, to: last, ends: last === to })
        // Its failure is thrown when its turn comes; until then it must not count as unhandled.
        range.catch(() => undefined)
        ahead.push(range)
        next = last + 1
      }
      return ahead.shift()
    },
  }
}

function* untilAborted(blocks: readonly Proven[], signal: AbortSignal): Generator<Proven, void, void> {
  for (const block of blocks) {
    yield block
    if (signal.aborted) throw endedByCaller(signal)
  }
}

/** Blocks of which the last one is not named by another yet, and the hash of the block before them, if that is known. */
type Held = { readonly held: readonly Proven[]; readonly parent: string | undefined }

/** Joins a range to the blocks before it, which it names by that; a block of either that does not fit is replaced. */
const joined = async (
  fetching: Fetching,
  { held, parent }: Held,
  range: readonly Proven[],
): Promise<{ readonly named: readonly Proven[]; readonly rest: readonly Proven[] }> => {
  const before = held.slice(0, -1)
  const seam = held.slice(-1)
  const run = await linked([...seam, ...range], {
    parent: before.at(-1)?.block.hash ?? parent,
    fetch: (height, child) => fetchBlock(fetching, height, child),
  })
  return { named: [...before, ...run.slice(0, seam.length)], rest: run.slice(seam.length) }
}
