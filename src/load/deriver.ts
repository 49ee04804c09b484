import type { LoadedBlock } from '#chain/block.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { applies } from '#chain/effects.ts'
import { type BlockDocuments, deriveBlock } from '#derive/derive-block.ts'
import { MissingState } from '#derive/state.ts'
import { type LookupPublisher, UNKNOWN, type WorkingState, workingState } from '#derive/working-state.ts'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { type ProducerDoc, producerKeys, producers } from '#indices/producer.ts'
import type { Key, StateChange } from '#indices/registry.ts'
import type { Writer } from '#store/port.ts'
import type { StateReader } from '#store/state-port.ts'
import { expiries } from './expiries.ts'
import { openStateCache, type StateCache } from './state-cache.ts'

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
      const falling = due.take(time).filter(id => isDue(state, id, time))
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
    changedKeys: () => listChangedKeys(state),
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

function isDue(state: WorkingState, id: string, time: bigint): boolean {
  const doc = state.get(balances, id)
  return doc?.next_due !== undefined && doc.next_due <= time
}

/** Changed balances that the store does not have yet. */
function* changedBalances(cache: StateCache, state: WorkingState): Iterable<BalanceDoc> {
  for (const doc of cache.committing(balances)) yield doc as BalanceDoc
  for (const change of state.changes()) if (change.index === balances) yield change.doc as BalanceDoc
}

function listChangedKeys(state: WorkingState): readonly ChangedKey[] {
  const changed: ChangedKey[] = []
  for (const { id } of state.changedSinceMark(producerKeys)) {
    const owner = state.atMark(producerKeys, id)?.account
    if (owner === undefined || owner === '') continue
    changed.push({ key: id, before: state.atMark(producers, owner) ?? state.get(producers, owner) })
  }
  return changed
}
