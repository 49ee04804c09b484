import type { LoadedBlock } from '#chain/block.ts'
import { type BlockDocuments, deriveBlock } from '#derive/derive-block.ts'
import { needsOf, needsOfDue } from '#derive/needs.ts'
import { MissingState } from '#derive/state.ts'
import { type WorkingState, workingState } from '#derive/working-state.ts'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { Change, Key } from '#indices/registry.ts'
import type { Writer } from '#store/port.ts'
import { expiries } from './expiries.ts'
import { type KnownPublishers, knownPublishers } from './known-publishers.ts'
import { type KnownState, knownState } from './known-state.ts'
import type { Run } from './runs.ts'

/** A producer key that changed; `before`: the producer that had it; undefined: none. */
export type ChangedKey = { readonly key: string; readonly before: ProducerDoc | undefined }

/**
 * Derives blocks in order over the state in the store. Between `cut` and `settled` a batch is being
 * committed; meanwhile later blocks are derived over the state of that batch.
 */
export type Deriver = {
  /**
   * Starts to fetch the state for a run while the previous run is derived; `begin` waits for it. At most one
   * run ahead, so that no document is evicted and fetched again while an older answer is pending.
   */
  prefetch(run: Run): void
  /** Fetches the state that a run needs and that is not known yet. The blocks of the run are derived next. */
  begin(run: Run): Promise<void>
  /**
   * Documents of the next block of the run, derived over the state that the previous block left. `commitAll` commits
   * the blocks before it; it is called when the block depends on a transaction that is not in the store.
   */
  derive(loaded: LoadedBlock, commitAll: () => Promise<void>): Promise<BlockDocuments>
  /** State after the blocks derived so far, in the order of `keys`. */
  read(keys: readonly Key[]): Promise<readonly (Change['doc'] | undefined)[]>
  /** Producer keys that changed hands or became free in the last block, and the former producer of each. */
  changedKeys(): Promise<readonly ChangedKey[]>
  /** Number of state documents written since the last `cut`. */
  changed(): number
  /** Ends a batch and returns its changes. */
  cut(): readonly Change[]
  /** Called when the batch cut last is in the store. */
  settled(): void
}

/** `partition` returns the partition for the history of the next block. */
export const deriver = (writer: Writer, partition: () => number): Deriver => {
  const known = knownState(writer)
  const publishers = knownPublishers(writer)
  const begin = () => workingState(known.get, known.members, publishers.get)
  let state = begin()
  const due = expiries(writer.checkpoint?.time, range => writer.due(range))
  const fetching = new WeakMap<Run, Ahead>()
  const read: Deriver['read'] = async keys => {
    await known.fetch(keys)
    return keys.map(({ index, id }) => state.get(index, id) as Change['doc'] | undefined)
  }
  return {
    prefetch: run => void fetching.set(run, fetchAhead(run, known)),
    begin: async run => {
      const [last, ahead] = [run.at(-1)?.at(-1), fetching.get(run)]
      if (last === undefined) return
      await ahead?.fetched
      known.trim()
      await due.extend(last.block.time, unwritten(known, state))
      const inRun = due.peek(last.block.time).flatMap(needsOfDue)
      // The prefetched documents are still there, unless a batch was cut or documents were evicted meanwhile.
      const ofRun = ahead?.losses === known.losses ? [] : (ahead?.keys ?? needsOf(run.flat()))
      await known.fetch([...inRun, ...ofRun])
    },
    derive: async (loaded, commitAll) => {
      const taken = due.take(loaded.block.time)
      if (taken.length > 0) await known.fetch(taken.map(id => ({ index: balances, id })))
      // The derivation restarts until all the state that it needs is fetched.
      for (;;) {
        state.mark()
        try {
          const falling = taken.filter(id => isDue(state, id, loaded.block.time))
          const documents = deriveBlock(loaded, state, { due: falling, partition: partition() })
          known.forgetMembers()
          for (const doc of state.changedSinceMark(balances)) due.learn(doc)
          return documents
        } catch (error) {
          state.rollback()
          if (!(error instanceof MissingState)) throw error
          await fetchMissing(error, { known, publishers, commitAll })
        }
      }
    },
    read,
    changedKeys: () => changedKeysOf(state, read),
    changed: () => state.size,
    cut: () => {
      const changes = state.changes()
      known.sent(changes)
      state = begin()
      return changes
    },
    settled: known.arrived,
  }
}

type Fetching = {
  readonly known: KnownState
  readonly publishers: KnownPublishers
  readonly commitAll: () => Promise<void>
}

const fetchMissing = async (
  { keys, ranges, hashes }: MissingState,
  { known, publishers, commitAll }: Fetching,
): Promise<void> => {
  await known.fetch(keys)
  await known.fetchMembers(ranges)
  await publishers.fetch(hashes, commitAll)
}

/** The prefetch of a run; `losses`: the value of the known state when the prefetch began. */
type Ahead = { readonly keys: readonly Key[]; readonly fetched: Promise<void>; readonly losses: number }

const fetchAhead = (run: Run, known: KnownState): Ahead => {
  const keys = needsOf(run.flat())
  const fetched = known.fetch(keys)
  // A failure is thrown by `begin`; until then it must not count as an unhandled rejection.
  fetched.catch(() => undefined)
  return { keys, fetched, losses: known.losses }
}

const isDue = (state: WorkingState, id: string, time: bigint): boolean => {
  const doc = state.get(balances, id)
  return doc?.next_due !== undefined && doc.next_due <= time
}

/** Changed balances that the store does not have yet. */
function* unwritten(known: KnownState, state: WorkingState): Iterable<BalanceDoc> {
  for (const doc of known.inFlight(balances)) yield doc as BalanceDoc
  for (const change of state.changes()) if (change.index === balances) yield change.doc as BalanceDoc
}

const changedKeysOf = async (state: WorkingState, read: Deriver['read']): Promise<readonly ChangedKey[]> => {
  const changed: ChangedKey[] = []
  for (const { id } of state.changedSinceMark(producerKeys)) {
    const owner = state.atMark(producerKeys, id)?.account
    if (owner === undefined || owner === '') continue
    const [now] = await read([{ index: producers, id: owner }])
    changed.push({ key: id, before: state.atMark(producers, owner) ?? (now as ProducerDoc | undefined) })
  }
  return changed
}
