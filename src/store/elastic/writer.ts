import { blocks } from '#indices/block.ts'
import { records } from '#indices/record.ts'
import type { Change, HistoryIndex, Key } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import { checkBatch } from '#store/batch.ts'
import type { Batch, Identity, Writer } from '#store/port.ts'
import { sendAcknowledged } from './acknowledged.ts'
import type { Bulk } from './bulk.ts'
import { type BulkItem, createItem, deleteItem } from './bulk-item.ts'
import type { CreateOptions } from './create.ts'
import { decode, encode } from './documents.ts'
import { dueBalances } from './due.ts'
import { getMany } from './get-many.ts'
import { keepHold } from './hold.ts'
import { type Entry, entriesOf, journalParts, partId, partItems } from './journal.ts'
import { acquire } from './lease.ts'
import { membersOf } from './members.ts'
import type { Checkpoint } from './meta.ts'
import type { Names } from './names.ts'
import { createPartition, showPartition } from './open-partition.ts'
import { type Partitions, partitionAt, partitionsWith } from './partitions.ts'
import { apply, recover } from './recover.ts'
import { refresh } from './refresh.ts'
import { rewriteDocuments } from './rewrite.ts'

export type WriterOptions = {
  readonly bulk: Bulk
  readonly names: Names
  readonly identity: Identity
  readonly leaseMs: number
  /** `Writer.partitionDocuments` */
  readonly partitionDocuments: number
  /** How new partitions are made. */
  readonly create: CreateOptions
  readonly onRelease: () => void
}

/**
 * Takes the store over and brings it to its checkpoint. A batch goes in four steps: history and journal; the
 * checkpoint by compare-and-set (from here on it is committed); state; publication. One that opens a partition creates
 * its indices before the first step and shows them after it. Killed between any two, the next loader goes on from the
 * checkpoint.
 */
export const openWriter = async (options: WriterOptions): Promise<Writer> => {
  const { names, identity, leaseMs } = options
  const holder = keepHold(
    options.bulk,
    names,
    await acquire(options.bulk, names, { identity, leaseMs }),
    leaseMs,
  )
  const bulk: Bulk = { ...options.bulk, requireHold: holder.requireHold }
  try {
    await recover(bulk, names, holder.checkpoint())
  } catch (error) {
    await holder.release()
    throw error
  }
  // Set while a batch is under way: a failure leaves the store to be recovered before the next one.
  let unclear = false
  const commit = async (batch: Batch): Promise<void> => {
    if (unclear) {
      await holder.renew()
      await recover(bulk, names, holder.checkpoint())
      unclear = false
      if (holder.checkpoint().end?.hash === batch.end.hash) return
    }
    holder.requireHold()
    const before = holder.checkpoint()
    checkBatch(batch, before.end)
    const partitions = partitionsWith(before.partitions, batch)
    const { partition } = batch.filling
    const opens = partitions !== before.partitions
    const prepared = prepare(names, batch, { ...before, partitions })
    unclear = true
    if (opens) await createPartition(bulk.connection, names, partition, options.create)
    await writeHistory(bulk, prepared)
    if (opens) await showPartition(bulk.connection, names, partition)
    const { end, filling } = batch
    await holder.set({ end, batch: prepared.name, parts: prepared.parts, partitions, filling })
    const touched = new Set(prepared.entries.map(({ index }) => names.state(index)))
    await apply(bulk, names, holder.checkpoint(), prepared.entries, [...touched])
    unclear = false
  }
  let last: Promise<void> = Promise.resolve()
  // One after the other, also for a caller that does not wait.
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
  return {
    get checkpoint() {
      return holder.checkpoint().end
    },
    get filling() {
      return holder.checkpoint().filling
    },
    partitionDocuments: options.partitionDocuments,
    commit: batch => inTurn(() => commit(batch)),
    rewrite: rewrite =>
      inTurn(async () => {
        // Also makes sure that the store is still ours.
        await holder.renew()
        const { partitions, end } = holder.checkpoint()
        await rewriteDocuments(bulk, names, { partitions, height: end?.height ?? 0 }, rewrite)
      }),
    getMany: keys => stateOf(bulk, names, keys),
    due: range => dueBalances(bulk.connection, names, range),
    members: range => membersOf(bulk.connection, names, range),
    release: async () => {
      await last
      await holder.release()
      options.onRelease()
    },
  }
}

type Prepared = {
  readonly name: string
  readonly parts: number
  readonly entries: readonly Entry[]
  readonly history: readonly BulkItem[]
  readonly journal: readonly BulkItem[]
  /** Indices the history goes to. */
  readonly indices: readonly string[]
}

/** Everything the batch writes, as text; throws 'defect' on what could not be stored, before anything is written. */
const prepare = (
  names: Names,
  batch: Batch,
  before: Pick<Checkpoint, 'batch' | 'parts' | 'partitions'>,
): Prepared => {
  const name = crypto.randomUUID()
  const entries = entriesOf(batch.changes, batch.end.height)
  const parts = journalParts(entries)
  const history = [
    ...historyItems(names, blocks, batch.blocks, before.partitions),
    ...historyItems(names, transactions, batch.transactions, before.partitions),
    ...historyItems(names, records, batch.records, before.partitions),
  ]
  // The journal before is applied and published; it goes along with this batch.
  const old = Array.from({ length: before.parts }, (_, part) =>
    deleteItem(names.journal, partId(before.batch, part)),
  )
  const indices = [...new Set(history.map(({ index }) => index))]
  return {
    name,
    parts: parts.length,
    entries,
    history,
    journal: [...partItems(names, name, parts), ...old],
    indices,
  }
}

const historyItems = (
  names: Names,
  index: HistoryIndex,
  docs: readonly { readonly id: string; readonly height: number }[],
  partitions: Partitions,
): readonly BulkItem[] =>
  docs.map(doc =>
    createItem(names.partition(index, partitionAt(partitions, doc.height)), doc.id, encode(index, doc)),
  )

const writeHistory = async (bulk: Bulk, prepared: Prepared): Promise<void> => {
  await sendAcknowledged(bulk, [...prepared.history, ...prepared.journal])
  await refresh(bulk, prepared.indices)
}

/** State as of the last committed batch: it is applied and refreshed before the next one begins. */
const stateOf = async (
  bulk: Bulk,
  names: Names,
  keys: readonly Key[],
): Promise<readonly (Change['doc'] | undefined)[]> => {
  const refs = keys.map(({ index, id }) => ({ index: names.state(index), id }))
  const found = await getMany(bulk.connection, refs, { realtime: false })
  return keys.map(({ index, id }, at) => {
    const got = found[at]
    return got === undefined ? undefined : (decode(index, id, got.source) as Change['doc'])
  })
}
