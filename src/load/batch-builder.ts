import type { BlockDocuments } from '#derive/derive-block.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { type BatchBounds, isFull, sizeOf, sumOfSizes } from '#store/batch.ts'
import type { Filling, History, Published } from '#store/port.ts'

/** Collects the history of a run of blocks until it is full, to be appended piece by piece. */
export type BatchBuilder = {
  add(documents: BlockDocuments): void
  readonly empty: boolean
  /** `changes`: how many state documents it has changed so far. */
  full(changes: number): boolean
  /** In all its blocks, those of the pieces taken too. */
  readonly transactions: number
  readonly records: number
  /** The collected history is enough for one piece. */
  readonly pieceFull: boolean
  /** The collected history, which is forgotten here. */
  takePiece(filling: Filling): History
  /** Its last block; `lib` is the node's. */
  end(lib: number): Published
}

type Piece = { blocks: BlockDoc[]; transactions: TransactionDoc[]; records: RecordDoc[] }

const NOTHING = { documents: 0, bytes: 0 }

export const batchBuilder = (bounds: BatchBounds): BatchBuilder => {
  const none = (): Piece => ({ blocks: [], transactions: [], records: [] })
  let piece = none()
  let ofPiece = NOTHING
  let all = NOTHING
  const count = { transactions: 0, records: 0 }
  let last: BlockDoc | undefined
  return {
    add: ({ block, transactions, records }) => {
      last = block
      piece.blocks.push(block)
      for (const transaction of transactions) piece.transactions.push(transaction)
      for (const record of records) piece.records.push(record)
      count.transactions += transactions.length
      count.records += records.length
      const size = sizeOf({ blocks: [block], transactions, records })
      ofPiece = sumOfSizes(ofPiece, size)
      all = sumOfSizes(all, size)
    },
    get empty() {
      return last === undefined
    },
    full: changes => isFull(all, bounds) || changes >= (bounds.changes ?? Number.POSITIVE_INFINITY),
    get transactions() {
      return count.transactions
    },
    get records() {
      return count.records
    },
    get pieceFull() {
      return bounds.piece !== undefined && isFull(ofPiece, bounds.piece)
    },
    takePiece: filling => {
      const taken = piece
      piece = none()
      ofPiece = NOTHING
      return { ...taken, filling }
    },
    end: lib => {
      if (last === undefined) throw new RangeError('A batch has at least one block.')
      return { height: last.height, hash: last.hash, time: last.time, lib }
    },
  }
}
