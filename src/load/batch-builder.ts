import type { BlockDoc } from '#indices/block.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { Change } from '#indices/registry.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { Batch, Filling } from '#store/port.ts'

export type BlockDocuments = {
  readonly block: BlockDoc
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
}

/** Bounds of one batch: whichever is reached first ends it. */
export type BatchBounds = {
  readonly documents: number
  /** Characters of text held, about bytes. */
  readonly bytes: number
}

/** Collects the documents of a run of blocks until it is full. */
export type BatchBuilder = {
  add(documents: BlockDocuments): void
  readonly empty: boolean
  readonly full: boolean
  /** The batch so far, with the state it leads to. */
  build(changes: readonly Change[], filling: Filling, lib: number): Batch
}

export const batchBuilder = (bounds: BatchBounds): BatchBuilder => {
  const blocks: BlockDoc[] = []
  const transactions: TransactionDoc[] = []
  const records: RecordDoc[] = []
  let bytes = 0
  return {
    add: documents => {
      blocks.push(documents.block)
      for (const transaction of documents.transactions) transactions.push(transaction)
      for (const record of documents.records) records.push(record)
      bytes += weightOf(documents)
    },
    get empty() {
      return blocks.length === 0
    },
    get full() {
      return blocks.length + transactions.length + records.length >= bounds.documents || bytes >= bounds.bytes
    },
    build: (changes, filling, lib) => {
      const first = blocks[0]
      const last = blocks.at(-1)
      if (first === undefined || last === undefined) throw new RangeError('A batch has at least one block.')
      return {
        first: first.height,
        end: { height: last.height, hash: last.hash, time: last.time, lib },
        blocks,
        transactions,
        records,
        filling,
        changes,
      }
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
