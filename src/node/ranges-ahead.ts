import { joinSignals } from '#time/signals.ts'
import type { Range } from './bulk-answers.ts'
import type { Member } from './pool.ts'
import type { Shares } from './shares.ts'

/** Ranges that are asked for ahead, each of a node with a place for it, and given in order. */
export type RangesAhead<T> = {
  /** The next range; undefined: there is none. Throws why it could not be had. */
  next(): Promise<T | undefined>
}

export type Ahead<T> = {
  readonly shares: Shares
  /** The range that follows `before`; undefined: there is none. */
  readonly after: (before: Range | undefined) => Range | undefined
  readonly fetch: (
    range: Range,
    from: { readonly member: Member; readonly signal: AbortSignal },
  ) => Promise<T>
  /** Ranges under way, and those that have come and were not taken yet, together. */
  readonly most: number
  /** Ends all requests. */
  readonly signal: AbortSignal
}

type Asked<T> = {
  readonly range: Range
  readonly got: PromiseWithResolvers<T>
  /** The nodes that are asked for it. */
  readonly of: Map<Member, { readonly abort: (reason: unknown) => void }>
  /** Ranges that had come when it was asked for. */
  readonly before: number
  isDone: boolean
}

/**
 * A node is asked for its next range as soon as it has given one, so each goes at its own pace. When the next range to be
 * taken is missing while those behind it have come, another node with a free place is asked for it, too; the first answer
 * counts.
 */
export const rangesAhead = <T>({ shares, after, fetch, most, signal }: Ahead<T>): RangesAhead<T> => {
  const ahead: Asked<T>[] = []
  let last: Range | undefined
  let isAwaited = false
  let come = 0

  const ask = asking({ shares, fetch, signal }, ahead, isThere => {
    if (isThere) come += 1
    fill()
  })
  const fill = (): void => {
    while (ahead.length < most) {
      const range = after(last)
      const member = range && shares.take(range.to)
      if (range === undefined || member === undefined) break
      const asked: Asked<T> = {
        range,
        got: Promise.withResolvers(),
        of: new Map(),
        before: come,
        isDone: false,
      }
      // Its failure is thrown when its turn comes; until then it must not count as unhandled.
      asked.got.promise.catch(() => undefined)
      ahead.push(asked)
      last = range
      ask(asked, member)
    }
    const [first] = ahead
    if (isAwaited && first !== undefined && come > first.before && holdsOthers(ahead, most)) askAgain(first)
  }
  const askAgain = (asked: Asked<T>): void => {
    const member = shares.take(asked.range.to, asked.of)
    if (member === undefined) return
    for (const late of asked.of.keys()) shares.wasLate(late)
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

/** Asks a node for a range; `onOver` is told when the request is over, and whether the range is there by it. */
const asking = <T>(
  { shares, fetch, signal }: Pick<Ahead<T>, 'shares' | 'fetch' | 'signal'>,
  ahead: readonly Asked<T>[],
  onOver: (isThere: boolean) => void,
): ((asked: Asked<T>, member: Member) => void) => {
  const ask = (asked: Asked<T>, member: Member): void => {
    const ends = joinSignals(signal)
    asked.of.set(member, ends)
    /** false: it was given up before, and its place is free already. */
    const over = (): boolean => {
      ends.release()
      return asked.of.delete(member)
    }
    fetch(asked.range, { member, signal: ends.signal }).then(
      value => {
        if (!over()) return
        shares.gave(member, !isOvertaken(ahead, asked))
        asked.isDone = true
        asked.got.resolve(value)
        giveUp(asked)
        onOver(true)
      },
      error => {
        if (!over()) return
        shares.left(member)
        if (asked.of.size === 0) asked.got.reject(error)
        onOver(false)
      },
    )
  }
  const giveUp = ({ of }: Asked<T>): void => {
    for (const [member, ends] of of) {
      of.delete(member)
      shares.left(member)
      ends.abort('answered by another node')
    }
  }
  return ask
}

/** Whether a range that was asked for later has come. */
const isOvertaken = <T>(ahead: readonly Asked<T>[], asked: Asked<T>): boolean =>
  ahead.slice(ahead.indexOf(asked) + 1).some(({ isDone }) => isDone)

/** Whether the first range alone is late: half of all have come, or all behind it. */
const holdsOthers = <T>([first, ...others]: readonly Asked<T>[], most: number): boolean => {
  const come = others.filter(({ isDone }) => isDone).length
  return first?.isDone === false && (come >= most / 2 || come === others.length)
}
