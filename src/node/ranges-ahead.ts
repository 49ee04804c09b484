import { joinSignals } from '#time/signals.ts'
import type { HeightRange } from './bulk-answers.ts'
import type { Member } from './pool.ts'
import type { Shares } from './shares.ts'

/** Ranges that are fetched ahead, each from a node with a free place, and returned in order. */
export type RangesAhead<T> = {
  /** The next range; undefined: there is none. Throws the error of the last node asked for it. */
  next(): Promise<T | undefined>
}

export type RangesAheadOptions<T> = {
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

  const ask = asking({ shares, fetch, signal }, ahead, isThere => {
    if (isThere) arrived += 1
    fill()
  })
  const fill = (): void => {
    while (ahead.length < most) {
      const range = after(last)
      const member = range && shares.take(range.to)
      if (range === undefined || member === undefined) break
      const asked: RangeRequest<T> = {
        range,
        got: Promise.withResolvers(),
        of: new Map(),
        before: arrived,
        isDone: false,
      }
      // The failure is thrown at the range's turn; until then it must not count as an unhandled rejection.
      asked.got.promise.catch(() => undefined)
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
function asking<T>(
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
