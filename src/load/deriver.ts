import type { LoadedBlock } from '#chain/block.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { applies } from '#chain/effects.ts'
import { type BlockDocuments, deriveBlock } from '#derive/derive-block.ts'
import { withChanges } from '#derive/rankings.ts'
import { MissingState } from '#derive/state.ts'
import { type LookupPublisher, UNKNOWN, type WorkingState, workingState } from '#derive/working-state.ts'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import type { Index } from '#indices/define.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { Key, StateChange, StateIndex } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'
import type { Writer } from '#store/port.ts'
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
    const { docs, end } = wholeMoments(due, { ...(horizon === undefined ? {} : { after: horizon }), until })
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

/** Documents of a generation; at most two generations are in memory, some 30 MB. */
const GENERATION = 30_000

type Doc = StateChange['doc']
type Docs = Map<StateIndex, Map<string, Doc | undefined>>

/**
 * The state as of the batch cut last: its documents while they are being committed, the recently used documents of the
 * store, and the store itself for all others.
 */
type StateCache = {
  get(index: StateIndex, id: string): Doc | undefined
  members(range: StandingRange): Iterable<Doc>
  /** Documents of an index in the batch that is being committed. */
  committing(index: Index): readonly Doc[]
  /** Called when a batch begins to be committed. */
  begin(changes: readonly StateChange[]): void
  /** Called when that batch is in the store. */
  end(): void
}

export function openStateCache(stored: StateReader, generation = GENERATION): StateCache {
  /** Used since the last turn of generations, and in the generation before. */
  let young: Docs = new Map()
  let old: Docs = new Map()
  let size = 0
  let batch: Docs = new Map()
  const keep = (index: StateIndex, id: string, doc: Doc | undefined): Doc | undefined => {
    getDocMap(young, index).set(id, doc)
    size += 1
    if (size < generation) return doc
    old = young
    young = new Map()
    size = 0
    return doc
  }
  return {
    get: (index, id) => {
      const changed = batch.get(index)?.get(id)
      if (changed !== undefined) return changed
      const recent = young.get(index)
      const known = recent?.get(id)
      if (known !== undefined || recent?.has(id)) return known
      const before = old.get(index)
      if (before?.has(id)) return keep(index, id, before.get(id))
      return keep(index, id, stored.get(index, id) as Doc | undefined)
    },
    members: range => {
      const changed = batch.get(range.index as StateIndex)?.values() ?? []
      return withChanges(range, stored.members(range), changed as Iterable<Doc>).values()
    },
    committing: index => [...(batch.get(index as StateIndex)?.values() ?? [])] as readonly Doc[],
    begin: changes => {
      batch = new Map()
      for (const { index, doc } of changes) {
        getDocMap(batch, index).set(doc.id, doc)
        // A copy of the version before must not outlive the commit.
        if (young.get(index)?.has(doc.id)) getDocMap(young, index).set(doc.id, doc)
        else old.get(index)?.delete(doc.id)
      }
    },
    end: () => {
      batch = new Map()
    },
  }
}

function getDocMap(docs: Docs, index: StateIndex): Map<string, Doc | undefined> {
  let ofIndex = docs.get(index)
  if (ofIndex === undefined) {
    ofIndex = new Map()
    docs.set(index, ofIndex)
  }
  return ofIndex
}

/** Publishers of transactions, by transaction hash. */
type KnownPublishers = {
  readonly get: LookupPublisher
  /** Remembers the transactions of a derived block until they are in the store. */
  add(block: LoadedBlock['block']): void
  /** Looks transactions up in the store. A transaction that is neither there nor in a derived block has no publisher. */
  fetch(hashes: readonly string[]): Promise<void>
  /** Begins the next batch, while the one before is committed. */
  cut(): void
  /** Called when the batch cut last is in the store. */
  settled(): void
}

/**
 * A publisher that was found in the store is kept, since each later charge to the same contract needs it again. The
 * deployment of such a contract cost more RAM on the chain than the entry takes here.
 */
export function knownPublishers({ transactionsOf }: Pick<Writer, 'transactionsOf'>): KnownPublishers {
  const known = new Map<string, string | undefined>()
  // A store finds a transaction only when its batch is committed, and a batch may have to be as long as an abandoned one.
  let derived = new Map<string, string>()
  let committing = new Map<string, string>()
  return {
    get: hash => derived.get(hash) ?? committing.get(hash) ?? (known.has(hash) ? known.get(hash) : UNKNOWN),
    add: block => {
      for (const tx of block.transactions) if (applies(tx)) derived.set(tx.hash, tx.publisher)
    },
    fetch: async hashes => {
      if (hashes.length === 0) return
      const found = new Map<string, string | undefined>()
      for (const { hash, body } of await transactionsOf(hashes)) {
        const tx = decodeTransaction(body)
        found.set(hash, applies(tx) ? tx.publisher : undefined)
      }
      for (const hash of hashes) known.set(hash, found.get(hash))
    },
    cut: () => {
      committing = derived
      derived = new Map()
    },
    settled: () => {
      committing = new Map()
    },
  }
}

/** A producer key that changed; `before`: the producer that had it; undefined: none. */
type ChangedKey = { readonly key: string; readonly before: ProducerDoc | undefined }

/**
 * Derives blocks in order over the stored state. Between `cut` and `settled` a batch is being
 * committed; meanwhile later blocks are derived over the state of that batch.
 */
export type Deriver = {
  /** Documents of the next block, derived over the state that the previous block left. */
  derive(loaded: LoadedBlock): Promise<BlockDocuments>
  /** State after the blocks derived so far, in the order of `keys`. */
  read(keys: readonly Key[]): readonly (StateChange['doc'] | undefined)[]
  /** Producer keys that changed hands or became free in the last block, and the former producer of each. */
  changedKeys(): readonly ChangedKey[]
  /** Number of state documents written since the last `cut`. */
  changed(): number
  /** Ends a batch and returns its changes. */
  cut(): readonly StateChange[]
  /** Called when the batch cut last is in the store. */
  settled(): void
}

type Sources = {
  readonly writer: Pick<Writer, 'checkpoint' | 'transactionsOf'>
  readonly stored: StateReader
  /** Returns the partition for the history of the next block. */
  readonly partition: () => number
}

export function openDeriver({ writer, stored, partition }: Sources): Deriver {
  const cache = openStateCache(stored)
  const publishers = knownPublishers(writer)
  const begin = () => workingState(cache.get, cache.members, publishers.get)
  let state = begin()
  const due = expiries(writer.checkpoint?.time, stored.due)
  return {
    derive: async loaded => {
      const { time } = loaded.block
      due.extend(time, changedBalances(cache, state))
      const falling = due.take(time).filter(id => {
        const doc = state.get(balances, id)
        return doc?.next_due !== undefined && doc.next_due <= time
      })
      // A block is derived again only if it needs the publisher of a transaction, which is history.
      for (;;) {
        state.mark()
        try {
          const documents = deriveBlock(loaded, state, { due: falling, partition: partition() })
          for (const doc of state.changedSinceMark(balances)) due.learn(doc)
          publishers.add(loaded.block)
          return documents
        } catch (error) {
          state.rollback()
          if (!(error instanceof MissingState)) throw error
          await publishers.fetch(error.hashes)
        }
      }
    },
    read: keys => keys.map(({ index, id }) => state.get(index, id) as StateChange['doc'] | undefined),
    changedKeys: () => {
      const changed: ChangedKey[] = []
      for (const { id } of state.changedSinceMark(producerKeys)) {
        const owner = state.atMark(producerKeys, id)?.account
        if (owner === undefined || owner === '') continue
        changed.push({ key: id, before: state.atMark(producers, owner) ?? state.get(producers, owner) })
      }
      return changed
    },
    changed: () => state.size,
    cut: () => {
      const changes = state.changes()
      cache.begin(changes)
      publishers.cut()
      state = begin()
      return changes
    },
    settled: () => {
      cache.end()
      publishers.settled()
    },
  }
}

/** Changed balances that the store does not have yet. */
function* changedBalances(cache: StateCache, state: WorkingState): Iterable<BalanceDoc> {
  for (const doc of cache.committing(balances)) yield doc as BalanceDoc
  for (const change of state.changes()) if (change.index === balances) yield change.doc as BalanceDoc
}
