import type { BlockDocuments } from '#derive/derive-block.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { BatchEnd, History, Writer } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { batchBuilder } from './batch-builder.ts'
import type { Collect } from './collect.ts'
import type { Deriver } from './deriver.ts'
import { oneUnderWay } from './one-under-way.ts'
import type { Partitioning } from './partitioning.ts'

/** A batch that fills slowly is committed all the same; further from the head readers can wait a little longer. */
const OLDEST_MS = { near: 2_000, far: 15_000 }
/** Blocks behind the node's last irreversible one from which on a load is far from the head. */
const FAR = 1_000

type Parts = {
  readonly writer: Pick<Writer, 'append'>
  readonly deriver: Pick<Deriver, 'changed' | 'cut'>
  readonly partitions: Partitioning
  readonly bounds: BatchBounds
  readonly clock: Pick<Clock, 'elapsed'>
  readonly collect: Collect
  /** `Commits.handedOver` */
  readonly handedOver: () => Promise<void>
}

/** A batch cut from the state; `rest` is its history that was not appended yet. */
export type ClosedBatch = BatchEnd & { readonly rest: History }

/** A batch that is full, and not cut from the state yet. */
export type OpenBatch = {
  readonly transactions: number
  readonly records: number
  /** Cuts it from the state: once, before more is derived, and after the batch before has settled. */
  close(): ClosedBatch
}

/**
 * Collects the documents of blocks into batches; `lib` is the node's last irreversible block. A batch ends when it is full
 * or old, where a partition ends, and with the last block. Its history is appended piece by piece, the last one by `commits`.
 */
export async function* batches(
  documents: AsyncIterable<BlockDocuments>,
  { writer, deriver, partitions, bounds, clock, collect, handedOver }: Parts,
  lib: number,
): AsyncGenerator<OpenBatch, void, void> {
  const pieces = oneUnderWay()
  let batch = batchBuilder(bounds)
  let begun = 0
  const open = (): OpenBatch => {
    const { transactions, records, takePiece, end } = batch
    const close = () => ({ rest: takePiece(partitions.filling()), end: end(lib), changes: deriver.cut() })
    return { transactions, records, close }
  }
  try {
    for await (const each of documents) {
      if (batch.empty) begun = clock.elapsed()
      batch.add(each)
      partitions.add(each)
      collect(1 + each.transactions.length + each.records.length)
      const isOld = clock.elapsed() - begun > oldestMs(lib - each.block.height)
      if (isOld || batch.full(deriver.changed()) || partitions.full()) {
        yield open()
        batch = batchBuilder(bounds)
      } else if (batch.pieceFull) {
        await pieces.settle()
        const piece = batch.takePiece(partitions.filling())
        pieces.begin(handedOver().then(() => writer.append(piece)))
      }
    }
    if (!batch.empty) yield open()
  } finally {
    // The batch it belongs to fails with it.
    await pieces.settle().catch(() => undefined)
  }
}

/** `behind`: blocks to the node's last irreversible one. */
const oldestMs = (behind: number): number => (behind > FAR ? OLDEST_MS.far : OLDEST_MS.near)
