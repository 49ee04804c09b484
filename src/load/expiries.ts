import type { BalanceDoc } from '#indices/balance.ts'
import type { DueRange, StateReader } from '#store/state-port.ts'

/** Chain time fetched ahead, in nanoseconds: an hour has few documents to keep, and few queries. */
const WINDOW_NS = 3_600_000_000_000n
/** Documents per query. */
const LIMIT = 10_000

/**
 * Balances with frozen amounts that become due: all with `next_due` up to the horizon, in order of time.
 * Later ones are in the store; changes in batches that are not stored yet are passed to `learn`.
 *
 * An entry may be outdated, because the balance has changed since; the caller checks the balance itself.
 */
type Expiries = {
  /** Adds the next release of a balance that changed. */
  learn(doc: BalanceDoc): void
  /** Moves the horizon to at least `until`; `unwritten`: changed balances not in the store yet. */
  extend(until: bigint, unwritten: Iterable<BalanceDoc>): void
  /** Removes and returns the ids with a release at or before `until`, each once, by time, then id. */
  take(until: bigint): readonly string[]
}

/** `from`: time up to which all releases have been applied already. */
export function expiries(from: bigint | undefined, due: StateReader['due']): Expiries {
  let horizon = from
  const queue = dueQueue()

  const learn = (doc: BalanceDoc): void => {
    if (doc.next_due !== undefined && horizon !== undefined && doc.next_due <= horizon)
      queue.push({ due: doc.next_due, id: doc.id })
  }
  const fetch = (until: bigint): bigint => {
    const { docs, end } = wholeMoments(due, {
      ...(horizon === undefined ? {} : { after: horizon }),
      until,
    })
    for (const { id, next_due } of docs)
      if (next_due !== undefined && next_due <= end) queue.push({ due: next_due, id })
    return end
  }
  return {
    learn,
    extend: (until, unwritten) => {
      if (horizon !== undefined && horizon >= until) return
      const changed = [...unwritten]
      while (horizon === undefined || horizon < until) {
        const before = horizon
        horizon = fetch(until + WINDOW_NS)
        for (const doc of changed)
          if (before === undefined || (doc.next_due !== undefined && doc.next_due > before)) learn(doc)
      }
    },
    take: until => {
      const ids = new Set<string>()
      for (let next = queue.first(); next !== undefined && next.due <= until; next = queue.first()) {
        ids.add(next.id)
        queue.shift()
      }
      return [...ids]
    },
  }
}

/**
 * Balances due in a range, by time. `end`: the answer is complete up to this time. A full answer may end in
 * the middle of one moment; that moment is left for the next query.
 */
function wholeMoments(
  due: StateReader['due'],
  range: Omit<DueRange, 'limit'>,
): { readonly docs: readonly BalanceDoc[]; readonly end: bigint } {
  for (let limit = LIMIT; ; limit *= 2) {
    const docs = due({ ...range, limit })
    const last = docs.at(-1)?.next_due
    const end = docs.length < limit || last === undefined ? range.until : last - 1n
    const first = docs[0]?.next_due
    if (first === undefined || first <= end) return { docs, end }
  }
}

type Entry = { readonly due: bigint; readonly id: string }

const before = (a: Entry, b: Entry): boolean => a.due < b.due || (a.due === b.due && a.id < b.id)

/** Binary heap ordered by time, then id. */
function dueQueue() {
  const heap: Entry[] = []
  const at = (index: number): Entry => heap[index] as Entry
  const swap = (a: number, b: number): void => {
    const entry = at(a)
    heap[a] = at(b)
    heap[b] = entry
  }
  const sink = (from: number): void => {
    for (let parent = from; ; ) {
      let least = parent
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < heap.length && before(at(child), at(least))) least = child
      if (least === parent) return
      swap(parent, least)
      parent = least
    }
  }
  return {
    push: (entry: Entry): void => {
      heap.push(entry)
      for (let child = heap.length - 1; child > 0; ) {
        const parent = (child - 1) >> 1
        if (!before(at(child), at(parent))) return
        swap(child, parent)
        child = parent
      }
    },
    first: (): Entry | undefined => heap[0],
    shift: (): void => {
      const last = heap.pop()
      if (last === undefined || heap.length === 0) return
      heap[0] = last
      sink(0)
    },
  }
}
