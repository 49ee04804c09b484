import type { BlockDocuments } from '#derive/derive-block.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { Batch, Writer } from '#store/port.ts'
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
  readonly writer: Pick<Writer, 'stage'>
  readonly deriver: Pick<Deriver, 'changed' | 'cut'>
  readonly partitions: Partitioning
  readonly bounds: BatchBounds
  readonly clock: Pick<Clock, 'elapsed'>
  readonly collect: Collect
  /** `Commits.handedOver` */
  readonly handedOver: () => Promise<void>
}

/** A batch that is full, and not cut from the state yet. */
export type OpenBatch = {
  readonly transactions: number
  readonly records: number
  /** Cuts it from the state: once, before more is derived, and after the batch before has settled. */
  close(): Batch
}

/**
 * Collects the documents of blocks into batches; `lib` is the node's last irreversible block. A batch ends when it is full
 * or old, where a partition ends, and with the last block. The history of a large batch goes to the store ahead of it,
 * piece by piece, where the store takes that.
 */
export async function* batches(
  documents: AsyncIterable<BlockDocuments>,
  { writer: { stage }, deriver, partitions, bounds, clock, collect, handedOver }: Parts,
  lib: number,
): AsyncGenerator<OpenBatch, void, void> {
  const pieces = oneUnderWay()
  let batch = batchBuilder(bounds)
  let begun = 0
  const open = (): OpenBatch => {
    const { transactions, records, build } = batch
    return { transactions, records, close: () => build(deriver.cut(), partitions.filling(), lib) }
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
      } else if (stage !== undefined && batch.pieceFull) {
        await pieces.settle()
        const piece = batch.takePiece(partitions.filling())
        pieces.begin(handedOver().then(() => stage(piece)))
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
