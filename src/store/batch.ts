import { Failure } from '#failure/failure.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { Change } from '#indices/registry.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { Published } from './published.ts'

/**
 * How far history has come in the partition it goes to. Partitions (0, 1, 2 …) hold whole blocks and are filled one after
 * the other; a store that keeps history in one piece has partition 0 only.
 */
export type Filling = {
  readonly partition: number
  /** Blocks, transactions and records in it, together. */
  readonly documents: number
}

/** At the beginning, and always in a store that keeps history in one piece. */
export const NOTHING_FILLED: Filling = { partition: 0, documents: 0 }

/** Documents of a run of blocks, and the partition they go to, with them. */
export type History = Pick<Batch, 'blocks' | 'transactions' | 'records' | 'filling'>

/** A run of blocks as documents: complete or absent, whatever happens while it is written. */
export type Batch = {
  readonly first: number
  /** Height, hash, time of the last block; the node's lib. */
  readonly end: Published
  readonly blocks: readonly BlockDoc[]
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
  /** The partition its history goes to, and what is in there with it. One more than the last: this batch opens it. */
  readonly filling: Filling
  /** The last word on each thing the batch touched; one change per (index, id). */
  readonly changes: readonly Change[]
}

/** What commits a batch once its history is appended. */
export type BatchEnd = Pick<Batch, 'end' | 'changes'>

/** Documents, and about how many bytes they take. */
export type Bounds = {
  readonly documents: number
  /** Characters of text, about as many bytes. */
  readonly bytes: number
}

/** Bounds of the batches that suit a store: whichever is reached first ends a batch. */
export type BatchBounds = Bounds & {
  /** State documents it changes; absent: any number. */
  readonly changes?: number
  /** History to collect before it is appended; absent: that of the whole batch. */
  readonly chunk?: Bounds
}

/** Whether documents reach a bound. */
export const isFull = (size: Bounds, bounds: Bounds): boolean =>
  size.documents >= bounds.documents || size.bytes >= bounds.bytes

export const sumOfSizes = (one: Bounds, other: Bounds): Bounds => ({
  documents: one.documents + other.documents,
  bytes: one.bytes + other.bytes,
})

/** Fixed fields of a document take about this many bytes. */
const FIXED = 300

/** Size of history in the measure of the bounds. */
export const sizeOf = ({ blocks, transactions, records }: Omit<History, 'filling'>): Bounds => {
  const documents = blocks.length + transactions.length + records.length
  let bytes = FIXED * documents
  for (const { tx_hashes, base } of blocks) bytes += tx_hashes.length + (base?.length ?? 0)
  for (const { body } of transactions) bytes += body.length
  for (const { data, return: returned } of records) bytes += data.length + returned.length
  return { documents, bytes }
}

/** The last block that a store wrote before the rest of its batch. */
export type Ahead = Pick<Published, 'height' | 'hash' | 'time'>

/**
 * Throws Failure('defect') unless the batch begins right after `checkpoint` (undefined: at block 0), has exactly the
 * blocks it says, those up to `ahead` stored before, history of these blocks only, and one change per thing. A hole or a
 * doubt must never be committed.
 */
export const checkBatch = (batch: Batch, checkpoint: Published | undefined, ahead?: Ahead): void => {
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
    refuse(
      `its end has the hash ${end.hash}, but its last block has ${last?.hash}; the times must agree, too`,
    )
  const seen = new Map<string, Set<string>>()
  for (const { index, doc } of batch.changes) {
    const ids = seen.get(index.name) ?? new Set()
    if (ids.has(doc.id)) refuse(`two changes of ${index.name} '${doc.id}'`)
    seen.set(index.name, ids.add(doc.id))
  }
}

/** Throws Failure('defect') unless history begins with block `from` and is whole and of its blocks only. */
export const checkHistory = (history: History, from: number): void =>
  checkRun(history, from, problem => {
    throw new Failure('defect', `History of blocks from ${from} on: ${problem}.`)
  })

const checkRun = (
  { blocks, transactions, records }: Omit<History, 'filling'>,
  from: number,
  refuse: (problem: string) => void,
): void => {
  for (const [at, block] of blocks.entries())
    if (block.height !== from + at) refuse(`block ${block.height} is at the position of block ${from + at}`)
  const until = from + blocks.length
  for (const docs of [transactions, records])
    for (const { id, height } of docs)
      if (height < from || height >= until) refuse(`document ${id} is of block ${height}`)
}

/** History of the next batch that a writer holds. */
export type Appended = {
  readonly size: Bounds
  /** Throws Failure('defect') if the history belongs to another partition than what is held. */
  add(history: History): void
  /** All that is held; nothing is held from then on. */
  take(): History | undefined
}

const NOTHING: Bounds = { documents: 0, bytes: 0 }

export const appendedHistory = (): Appended => {
  let held: readonly History[] = []
  return {
    get size() {
      return held.map(sizeOf).reduce(sumOfSizes, NOTHING)
    },
    add: history => {
      const { filling, blocks } = history
      const { partition = filling.partition } = held[0]?.filling ?? {}
      if (filling.partition !== partition)
        throw new Failure(
          'defect',
          `History of block ${blocks[0]?.height} belongs to partition ${filling.partition}, but its batch to ${partition}.`,
        )
      held = [...held, history]
    },
    take: () => {
      const taken = held
      held = []
      return joined(taken)
    },
  }
}

const joined = (parts: readonly History[]): History | undefined => {
  const last = parts.at(-1)
  if (last === undefined || parts.length === 1) return last
  return {
    blocks: parts.flatMap(({ blocks }) => blocks),
    transactions: parts.flatMap(({ transactions }) => transactions),
    records: parts.flatMap(({ records }) => records),
    filling: last.filling,
  }
}

/** The batch of some history; `next` is the block after the checkpoint, where a batch without a block would begin. */
export const batchWith = (history: History, { end, changes }: BatchEnd, next: number): Batch => ({
  first: history.blocks[0]?.height ?? next,
  end,
  ...history,
  changes,
})

/**
 * How many batches can be taken back. A false last irreversible block of a node shows within hours, and further from the
 * head a node has nothing to take back.
 */
export const KEPT = {
  /** Blocks: four hours of the chain. */
  heights: 28_800,
  /** Of all batches that are kept. */
  bytes: 128_000_000,
  /** Of one batch. */
  batchBytes: 16_000_000,
  /** Blocks behind the node's last irreversible one from which on nothing is kept. */
  near: 1_000,
} as const

/** Whether the old documents of a batch are kept, so that it can be taken back. */
export const isKept = ({ first, end }: Pick<Batch, 'first' | 'end'>): boolean =>
  first > 0 && end.lib - end.height <= KEPT.near
