import type { LoadedBlock } from '#chain/block.ts'
import { deriveBlock } from '#derive/derive-block.ts'
import { needsOf } from '#derive/needs.ts'
import { Missing } from '#derive/state.ts'
import { UNKNOWN, workingState } from '#derive/working-state.ts'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { Change, Key } from '#indices/registry.ts'
import type { Writer } from '#store/port.ts'
import type { BlockDocuments } from './batch-builder.ts'
import { expiries } from './expiries.ts'
import { rangeCache } from './range-cache.ts'
import { stateCache, unknownKeys } from './state-cache.ts'

/** State documents held between batches, twice as many at most: some 30 MB. */
const CACHED = 30_000
/** Keys asked for in one call. */
const FETCHED_AT_ONCE = 5_000

/** `before`: the producer who had the key; undefined: nobody. */
export type ChangedKey = { readonly key: string; readonly before: ProducerDoc | undefined }

/**
 * Derives blocks in order over the state in the store. Between `cut` and `settled` a batch is on its way to the store;
 * meanwhile deriving goes on over what that batch says.
 */
export type Deriver = {
  /**
   * Begins to fetch what a run of blocks needs, while the run before it is derived: `derive` waits for it. At most one
   * run ahead, so that nothing is forgotten and fetched anew while an older answer is on its way.
   */
  prefetch(run: readonly LoadedBlock[]): void
  /**
   * Documents of a run of blocks, each derived over the state the block before it left; `before` is called with each
   * block before it is derived.
   */
  derive(
    run: readonly LoadedBlock[],
    each: (documents: BlockDocuments) => Promise<void>,
    before?: (loaded: LoadedBlock) => Promise<void>,
  ): Promise<void>
  /** State as the blocks derived so far left it, in the order of `keys`. */
  read(keys: readonly Key[]): Promise<readonly (Change['doc'] | undefined)[]>
  /** Producers' keys that the block derived last gave to somebody else or to nobody, and whose each was before it. */
  changedKeys(): Promise<readonly ChangedKey[]>
  /** State documents put since the last `cut`. */
  changed(): number
  /** Ends a batch: its changes. */
  cut(): readonly Change[]
  /** The batch cut last is in the store. */
  settled(): void
}

/** `partition` says where the history of the block that is derived next goes. */
export const deriver = (writer: Writer, partition: () => number): Deriver => {
  const cache = stateCache(CACHED)
  let inFlight = new Map<string, Map<string, Change>>()
  const lookup = (key: Key): Change['doc'] | undefined | typeof UNKNOWN => {
    const flying = inFlight.get(key.index.name)?.get(key.id)
    return flying === undefined ? cache.get(key.index, key.id) : flying.doc
  }
  const ranges = rangeCache(
    range => writer.members(range),
    index => [...(inFlight.get(index.name)?.values() ?? [])].map(({ doc }) => doc),
  )
  const newState = () => workingState((index, id) => lookup({ index, id }), ranges.get)
  let state = newState()
  const due = expiries(writer.checkpoint?.time, range => writer.due(range))

  const fetch = async (keys: Iterable<Key>): Promise<void> => {
    const unknown = unknownKeys(keys, key => lookup(key) !== UNKNOWN)
    for (let at = 0; at < unknown.length; at += FETCHED_AT_ONCE) {
      const asked = unknown.slice(at, at + FETCHED_AT_ONCE)
      const docs = await writer.getMany(asked)
      asked.forEach((key, i) => {
        // Derived blocks may have fetched and changed it meanwhile: what is known is newer.
        if (lookup(key) === UNKNOWN) cache.set(key.index, key.id, docs[i])
      })
    }
  }
  const fetching = new WeakMap<readonly LoadedBlock[], Promise<void>>()
  const dueBalance = (id: string, time: bigint): boolean => {
    const doc = state.get(balances, id)
    return doc?.next_due !== undefined && doc.next_due <= time
  }
  const unwritten = function* (): Iterable<BalanceDoc> {
    for (const change of inFlight.get(balances.name)?.values() ?? []) yield change.doc as BalanceDoc
    for (const change of state.changes()) if (change.index === balances) yield change.doc as BalanceDoc
  }

  const read: Deriver['read'] = async keys => {
    await fetch(keys)
    return keys.map(({ index, id }) => state.get(index, id) as Change['doc'] | undefined)
  }

  const deriveOne = async (loaded: LoadedBlock): Promise<BlockDocuments> => {
    const taken = due.take(loaded.block.time)
    await fetch(taken.map(id => ({ index: balances, id })))
    for (;;) {
      state.mark()
      try {
        return deriveBlock(loaded, state, {
          due: taken.filter(id => dueBalance(id, loaded.block.time)),
          partition: partition(),
        })
      } catch (error) {
        state.rollback()
        if (!(error instanceof Missing)) throw error
        await fetch(error.keys)
        await ranges.fetch(error.ranges)
      }
    }
  }

  return {
    prefetch: run => {
      const fetched = fetch(run.flatMap(loaded => needsOf(loaded)))
      fetching.set(run, fetched)
      // Told to whoever derives the run.
      fetched.catch(() => undefined)
    },
    read,
    changedKeys: async () => {
      const changed: ChangedKey[] = []
      for (const { id } of state.changedSinceMark(producerKeys)) {
        const owner = state.atMark(producerKeys, id)?.account
        if (owner === undefined || owner === '') continue
        const [now] = await read([{ index: producers, id: owner }])
        changed.push({ key: id, before: state.atMark(producers, owner) ?? (now as ProducerDoc | undefined) })
      }
      return changed
    },
    derive: async (run, each, before) => {
      const last = run.at(-1)
      if (last === undefined) return
      await fetching.get(run)
      cache.trim()
      await due.extend(last.block.time, unwritten())
      // Whichever block of the run they fall in.
      const falling = due.peek(last.block.time)
      await fetch(run.flatMap((loaded, at) => needsOf(loaded, at === 0 ? falling : [])))
      for (const loaded of run) {
        await before?.(loaded)
        const documents = await deriveOne(loaded)
        ranges.clear()
        for (const doc of state.changedSinceMark(balances)) due.learn(doc)
        await each(documents)
      }
    },
    changed: () => state.size,
    cut: () => {
      const changes = state.changes()
      inFlight = new Map()
      for (const change of changes) {
        const ofIndex = inFlight.get(change.index.name)
        if (ofIndex === undefined) inFlight.set(change.index.name, new Map([[change.doc.id, change]]))
        else ofIndex.set(change.doc.id, change)
      }
      state = newState()
      return changes
    },
    settled: () => {
      for (const ofIndex of inFlight.values())
        for (const { index, doc } of ofIndex.values()) cache.set(index, doc.id, doc)
      inFlight = new Map()
    },
  }
}
