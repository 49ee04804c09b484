import { Failure } from '#failure/failure.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { StateChange } from '#indices/registry.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { Published } from './published.ts'

/**
 * The fill level of the current partition of history. Partitions (0, 1, 2 …) contain whole blocks and are
 * filled one after another; a store without partitions has only partition 0.
 */
export type Filling = {
  readonly partition: number
  /** Number of blocks, transactions and records in the partition, together. */
  readonly documents: number
}

/** The value in an empty store, and always in a store without partitions. */
export const NOTHING_FILLED: Filling = { partition: 0, documents: 0 }

/** First heights of partitions: a store without partitions has one, from block 0. */
export const ONE_PARTITION: readonly number[] = [0]

/** Documents of consecutive blocks, and the state of their partition once they are in it. */
export type History = Pick<Batch, 'blocks' | 'transactions' | 'records' | 'filling'>

/** Consecutive blocks as documents, stored whole or not at all, even if a process is killed mid-write. */
export type Batch = {
  readonly first: number
  /** Height, hash and time of the last block; the node's last irreversible block. */
  readonly end: Published
  readonly blocks: readonly BlockDoc[]
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
  /** The partition of its history, counted with this batch. A number one higher than before opens it. */
  readonly filling: Filling
  /** The final version of each document of state that the batch changes; one change per (index, id). */
  readonly changes: readonly StateChange[]
}

/** The data that commits a batch once its history is appended. */
export type BatchEnd = Pick<Batch, 'end' | 'changes'>

export type BatchSize = {
  readonly documents: number
  /** Characters of text, approximately bytes. */
  readonly bytes: number
}

/** Batch size that suits a store: a batch ends at whichever bound it reaches first. */
export type BatchBounds = BatchSize & {
  /** State documents that a batch changes; absent: unlimited. */
  readonly changes?: number
  /** Size of the chunks in which history is appended; absent: the history of the whole batch. */
  readonly chunk?: BatchSize
}

export const isFull = (size: BatchSize, bounds: BatchSize): boolean =>
  size.documents >= bounds.documents || size.bytes >= bounds.bytes

export const sumOfSizes = (one: BatchSize, other: BatchSize): BatchSize => ({
  documents: one.documents + other.documents,
  bytes: one.bytes + other.bytes,
})

/** Size of history in the units of the bounds. */
export function measureHistory({ blocks, transactions, records }: Omit<History, 'filling'>): BatchSize {
  const documents = blocks.length + transactions.length + records.length
  // The fixed fields of a document have some 300 bytes.
  let bytes = 300 * documents
  for (const { tx_hashes, base } of blocks) bytes += tx_hashes.length + (base?.length ?? 0)
  for (const { body } of transactions) bytes += body.length
  for (const { data, return: returned } of records) bytes += data.length + returned.length
  return { documents, bytes }
}

/** The last block of the part of a batch that was stored ahead of the rest. */
export type WrittenAhead = Pick<Published, 'height' | 'hash' | 'time'>

/**
 * Throws Failure('defect') unless the batch begins right after `checkpoint` (undefined: at block 0), has exactly the
 * blocks of its range except those up to `ahead`, which are stored already, contains history of these blocks only, and
 * changes each document once. A batch with a gap or an inconsistency must never be committed.
 */
export function checkBatch(batch: Batch, checkpoint: Published | undefined, ahead?: WrittenAhead): void {
  const { first, end } = batch
  const expected = checkpoint === undefined ? 0 : checkpoint.height + 1
  const refuse = (problem: string): never => {
    throw new Failure('defect', `Batch of blocks ${first} to ${end.height}: ${problem}.`)
  }
  if (first !== expected) refuse(`must begin at ${expected}, right after the checkpoint`)
  if (end.height < first) refuse('ends before it begins')
  const from = ahead === undefined ? first : ahead.height + 1
  if (batch.blocks.length !== end.height - from + 1) refuse(`has ${batch.blocks.length} blocks`)
  checkRun(batch, from, refuse)
  const last = batch.blocks.at(-1) ?? ahead
  if (last?.hash !== end.hash || last.time !== end.time)
    refuse(`its end has the hash ${end.hash}, but its last block has ${last?.hash}; the times must agree, too`)
  const seen = new Map<string, Set<string>>()
  for (const { index, doc } of batch.changes) {
    const ids = seen.get(index.name) ?? new Set()
    if (ids.has(doc.id)) refuse(`two changes of ${index.name} '${doc.id}'`)
    seen.set(index.name, ids.add(doc.id))
  }
}

/** Throws Failure('defect') unless history begins with block `from`, has no gaps and is of these blocks only. */
export const checkHistory = (history: History, from: number): void =>
  checkRun(history, from, problem => {
    throw new Failure('defect', `History of blocks from ${from} on: ${problem}.`)
  })

function checkRun(
  { blocks, transactions, records }: Omit<History, 'filling'>,
  from: number,
  refuse: (problem: string) => void,
): void {
  for (const [at, block] of blocks.entries())
    if (block.height !== from + at) refuse(`block ${block.height} is at the position of block ${from + at}`)
  const until = from + blocks.length
  for (const docs of [transactions, records])
    for (const { id, height } of docs)
      if (height < from || height >= until) refuse(`document ${id} is of block ${height}`)
}

/** A writer's buffer for the history of the next batch. */
export function appendedHistory() {
  let held: readonly History[] = []
  return {
    get size(): BatchSize {
      return held.map(measureHistory).reduce(sumOfSizes, { documents: 0, bytes: 0 })
    },
    /** Throws Failure('defect') if the history belongs to another partition than the buffered history. */
    add: (history: History): void => {
      const { filling, blocks } = history
      const { partition = filling.partition } = held[0]?.filling ?? {}
      if (filling.partition !== partition)
        throw new Failure(
          'defect',
          `History of block ${blocks[0]?.height} belongs to partition ${filling.partition}, but its batch to ${partition}.`,
        )
      held = [...held, history]
    },
    take: (): History | undefined => {
      const parts = held
      held = []
      const last = parts.at(-1)
      if (last === undefined || parts.length === 1) return last
      return {
        blocks: parts.flatMap(({ blocks }) => blocks),
        transactions: parts.flatMap(({ transactions }) => transactions),
        records: parts.flatMap(({ records }) => records),
        filling: last.filling,
      }
    },
  }
}

/** The batch with this history. `next` is the block after the checkpoint, the start of a batch without blocks. */
export const createBatch = (history: History, { end, changes }: BatchEnd, next: number): Batch => ({
  first: history.blocks[0]?.height ?? next,
  end,
  ...history,
  changes,
})

/**
 * Limits on the batches that can be reverted. A wrong last irreversible block of a node is noticed within
 * hours. Further from the head a node does not revert blocks.
 */
export const UNDO_LIMITS = {
  /** Blocks: four hours of the chain. */
  heights: 28_800,
  /** Of all kept batches together. */
  bytes: 128_000_000,
  /** Of a single batch. */
  batchBytes: 16_000_000,
  /** Maximum distance to the node's last irreversible block, in blocks; batches further behind are not kept. */
  near: 1_000,
} as const
