import type { BlockDocuments } from '#derive/derive-block.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { Change } from '#indices/registry.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { Batch, Filling, History, Published } from '#store/port.ts'

/** Collects the documents of a run of blocks until it is full. */
export type BatchBuilder = {
  add(documents: BlockDocuments): void
  readonly empty: boolean
  /** `changes`: how many state documents it has changed so far. */
  full(changes: number): boolean
  /** In all its blocks, also those whose history was taken. */
  readonly transactions: number
  readonly records: number
  /** The collected history is enough for one piece. */
  readonly pieceFull: boolean
  /** The collected history, which is forgotten here. */
  takePiece(filling: Filling): History
  /** The batch, with the history that was not taken. */
  build(changes: readonly Change[], filling: Filling, lib: number): Batch
}

type Held = { blocks: BlockDoc[]; transactions: TransactionDoc[]; records: RecordDoc[] }

export const batchBuilder = (bounds: BatchBounds): BatchBuilder => {
  const none = (): Held & { documents: number; bytes: number } => ({
    blocks: [],
    transactions: [],
    records: [],
    documents: 0,
    bytes: 0,
  })
  let held = none()
  const taken = { documents: 0, bytes: 0, transactions: 0, records: 0 }
  let first: number | undefined
  let end: Omit<Published, 'lib'> | undefined
  return {
    add: documents => {
      const { block, transactions, records } = documents
      first ??= block.height
      end = { height: block.height, hash: block.hash, time: block.time }
      held.blocks.push(block)
      for (const transaction of transactions) held.transactions.push(transaction)
      for (const record of records) held.records.push(record)
      held.documents += 1 + transactions.length + records.length
      held.bytes += weightOf(documents)
    },
    get empty() {
      return first === undefined
    },
    full: changes =>
      taken.documents + held.documents >= bounds.documents ||
      taken.bytes + held.bytes >= bounds.bytes ||
      changes >= (bounds.changes ?? Number.POSITIVE_INFINITY),
    get transactions() {
      return taken.transactions + held.transactions.length
    },
    get records() {
      return taken.records + held.records.length
    },
    get pieceFull() {
      const { piece } = bounds
      return piece !== undefined && (held.documents >= piece.documents || held.bytes >= piece.bytes)
    },
    takePiece: filling => {
      const { blocks, transactions, records, documents, bytes } = held
      taken.documents += documents
      taken.bytes += bytes
      taken.transactions += transactions.length
      taken.records += records.length
      held = none()
      return { blocks, transactions, records, filling }
    },
    build: (changes, filling, lib) => {
      if (first === undefined || end === undefined) throw new RangeError('A batch has at least one block.')
      const { blocks, transactions, records } = held
      return { first, end: { ...end, lib }, blocks, transactions, records, filling, changes }
    },
  }
}

/** Fixed fields of a document take about this many bytes. */
const FIXED = 300

const weightOf = ({ block, transactions, records }: BlockDocuments): number => {
  let weight = FIXED + block.tx_hashes.length + (block.base?.length ?? 0)
  for (const { body } of transactions) weight += FIXED + body.length
  for (const { data, return: returned } of records) weight += FIXED + data.length + returned.length
  return weight
}
