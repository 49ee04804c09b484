import type { LoadedBlock } from '#chain/block.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { applies } from '#chain/effects.ts'
import { type BlockDocuments, deriveBlock } from '#derive/derive-block.ts'
import { withChanges } from '#derive/rankings.ts'
import { MissingState } from '#derive/state.ts'
import { type LookupPublisher, UNKNOWN, type WorkingState, workingState } from '#derive/working-state.ts'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { Key, StateChange, StateIndex } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'
import type { Writer } from '#store/port.ts'
import type { DueRange, StateReader } from '#store/state-port.ts'

/**
 * Balances with frozen amounts that become due: all with `next_due` up to the horizon, in order of time.
 * Later ones are in the store; changes in batches that are not stored yet are passed to `learn`.
 *
 * An entry may be outdated, because the balance has changed since; the caller checks the balance itself.
 * `from`: time up to which all releases have been applied already.
 */
export function createExpiries(from: bigint | undefined, due: StateReader['due']) {
  let horizon = from
  /** By time, then id. */
  const queue: { readonly due: bigint; readonly id: string }[] = []
  const push = (due: bigint, id: string): void => {
    let low = 0
    for (let high = queue.length; low < high; ) {
      const middle = (low + high) >> 1
      const other = queue[middle]
      if (other !== undefined && (other.due < due || (other.due === due && other.id < id))) low = middle + 1
      else high = middle
    }
    queue.splice(low, 0, { due, id })
  }
  /** Adds the next release of a balance that changed. */
  const learn = ({ next_due, id }: BalanceDoc): void => {
    if (next_due !== undefined && horizon !== undefined && next_due <= horizon) push(next_due, id)
  }
  return {
    learn,
    /** Moves the horizon to at least `until`; `unwritten`: changed balances not in the store yet. */
    extend: (until: bigint, unwritten: Iterable<BalanceDoc>): void => {
      if (horizon !== undefined && horizon >= until) return
      const changed = [...unwritten]
      while (horizon === undefined || horizon < until) {
        const before = horizon
        // An hour of chain time is fetched ahead: it has few documents to keep, and few queries.
        const range = { ...(before === undefined ? {} : { after: before }), until: until + 3_600_000_000_000n }
        const { docs, end } = readWholeMoments(due, range)
        horizon = end
        const isLater = ({ next_due }: BalanceDoc): boolean =>
          before === undefined || (next_due !== undefined && next_due > before)
        for (const doc of [...docs, ...changed.filter(isLater)]) learn(doc)
      }
    },
    /** Removes and returns the ids with a release at or before `until`, each once, by time, then id. */
    take: (until: bigint): readonly string[] => {
      const later = queue.findIndex(entry => entry.due > until)
      return [...new Set(queue.splice(0, later < 0 ? queue.length : later).map(({ id }) => id))]
    },
  }
}

/**
 * Balances due in a range, by time. `end`: the answer is complete up to this time. A full answer may end in
 * the middle of one moment; that moment is left for the next query.
 */
function readWholeMoments(
  due: StateReader['due'],
  range: Omit<DueRange, 'limit'>,
): { readonly docs: readonly BalanceDoc[]; readonly end: bigint } {
  for (let limit = 10_000; ; limit *= 2) {
    const docs = due({ ...range, limit })
    const last = docs.at(-1)?.next_due
    const end = docs.length < limit || last === undefined ? range.until : last - 1n
    const first = docs[0]?.next_due
    if (first === undefined || first <= end) return { docs, end }
  }
}

type Doc = StateChange['doc']
type Docs = Map<StateIndex, Map<string, Doc | undefined>>

/**
 * The state as of the batch cut last: the documents that it changed, which the store may not have yet, the recently used
 * documents of the store, and the store itself for all others. In memory are at most two generations, some 30 MB, and
 * the changes of the batch cut last; `generation`: number of documents of a generation.
 */
export function openStateCache(stored: StateReader, generation = 30_000) {
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
    get: (index: StateIndex, id: string): Doc | undefined => {
      const changed = batch.get(index)?.get(id)
      if (changed !== undefined) return changed
      const recent = young.get(index)
      const known = recent?.get(id)
      if (known !== undefined || recent?.has(id)) return known
      const before = old.get(index)
      if (before?.has(id)) return keep(index, id, before.get(id))
      return keep(index, id, stored.get(index, id) as Doc | undefined)
    },
    members: (range: StandingRange): Iterable<Doc> => {
      const changed = batch.get(range.index as StateIndex)?.values() ?? []
      return withChanges(range, stored.members(range), changed as Iterable<Doc>).values()
    },
    /** Documents of an index that the batch changed. */
    changed: (index: StateIndex) => [...(batch.get(index)?.values() ?? [])] as readonly Doc[],
    /** Begins with the changes of the next batch, once the one before is in the store. */
    cut: (changes: readonly StateChange[]): void => {
      batch = new Map()
      for (const { index, doc } of changes) {
        getDocMap(batch, index).set(doc.id, doc)
        // A copy of the version before must not outlive the batch.
        if (young.get(index)?.has(doc.id)) getDocMap(young, index).set(doc.id, doc)
        else old.get(index)?.delete(doc.id)
      }
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

/**
 * Publishers of transactions, by transaction hash. One that was found in the store is kept, since each later charge to
 * the same contract needs it again. The deployment of such a contract cost more RAM on the chain than the entry takes
 * here.
 */
export function createKnownPublishers({ transactionsOf }: Pick<Writer, 'transactionsOf'>) {
  const known = new Map<string, string | undefined>()
  // A store finds a transaction only when its batch is committed, and a batch may have to be as long as an abandoned one.
  let derived = new Map<string, string>()
  let last = new Map<string, string>()
  return {
    get: (hash: string): ReturnType<LookupPublisher> =>
      derived.get(hash) ?? last.get(hash) ?? (known.has(hash) ? known.get(hash) : UNKNOWN),
    /** Remembers the transactions of a derived block until they are in the store. */
    add: ({ transactions }: LoadedBlock['block']): void => {
      for (const tx of transactions) if (applies(tx)) derived.set(tx.hash, tx.publisher)
    },
    /** Looks transactions up in the store. One that is neither there nor in a derived block has no publisher. */
    fetch: async (hashes: readonly string[]): Promise<void> => {
      if (hashes.length === 0) return
      const found = new Map<string, string | undefined>()
      for (const { hash, body } of await transactionsOf(hashes)) {
        const tx = decodeTransaction(body)
        found.set(hash, applies(tx) ? tx.publisher : undefined)
      }
      for (const hash of hashes) known.set(hash, found.get(hash))
    },
    /** Begins the next batch, once the one before the last is in the store. */
    cut: (): void => {
      last = derived
      derived = new Map()
    },
  }
}

/** A producer key that changed; `before`: the producer that had it; undefined: none. */
type ChangedKey = { readonly key: string; readonly before: ProducerDoc | undefined }

/**
 * Derives blocks in order over the stored state. The batch cut last may still be on its way to the store: later blocks are
 * derived over the state of that batch.
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
  /** Ends a batch, once the one before is in the store, and returns its changes. */
  cut(): readonly StateChange[]
}

type Sources = {
  readonly writer: Pick<Writer, 'checkpoint' | 'transactionsOf'>
  readonly stored: StateReader
  /** Returns the partition for the history of the next block. */
  readonly partition: () => number
}

export function openDeriver({ writer, stored, partition }: Sources): Deriver {
  const cache = openStateCache(stored)
  const publishers = createKnownPublishers(writer)
  const begin = () => workingState(cache.get, cache.members, publishers.get)
  let state = begin()
  const due = createExpiries(writer.checkpoint?.time, stored.due)
  return {
    derive: async loaded => {
      const { time } = loaded.block
      due.extend(time, listChangedBalances(cache, state))
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
      cache.cut(changes)
      publishers.cut()
      state = begin()
      return changes
    },
  }
}

/** Changed balances that the store may not have yet. */
function* listChangedBalances(cache: ReturnType<typeof openStateCache>, state: WorkingState): Iterable<BalanceDoc> {
  for (const doc of cache.changed(balances)) yield doc as BalanceDoc
  for (const change of state.changes()) if (change.index === balances) yield change.doc as BalanceDoc
}
