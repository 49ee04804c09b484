import { blocks } from '#indices/block.ts'
import { batchBuilder, partitioning } from '#load/batches.ts'
import { UNDO_LIMITS } from '#store/batch.ts'
import type { Audit, Writer } from '#store/port.ts'
import type { DigestOptions } from './digest.ts'
import { keepReadable } from './keep-readable.ts'
import { storedHistory } from './stored-history.ts'

/**
 * Copies the blocks after the writer's checkpoint, with their transactions and rows, in batches without
 * state. The next run continues after the last committed batch.
 */
export async function copyHistory(source: Audit, writer: Writer, { signal, onProgress }: DigestOptions): Promise<void> {
  const from = (writer.checkpoint?.height ?? -1) + 1
  const { at } = source
  // These batches have no state, so none of them is ever undone.
  const lib = at.height + UNDO_LIMITS.near + 1
  const partitions = partitioning(writer.partitions)
  let batch = batchBuilder(writer.bounds)
  const append = (): Promise<void> => writer.append(batch.takePart(partitions.filling()))
  const commit = async (): Promise<void> => {
    await append()
    await writer.commit({ end: batch.end(lib), changes: [] })
    batch = batchBuilder(writer.bounds)
    await keepReadable(source)
  }
  for await (const stored of storedHistory(source, { from, to: at.height })) {
    signal.throwIfAborted()
    const documents = { ...stored, changes: [] }
    batch.add(documents)
    partitions.add(documents)
    if (batch.full(0) || partitions.full()) await commit()
    else if (batch.partFull) await append()
    onProgress({ stage: blocks.name, done: stored.block.height + 1, of: at.height + 1 })
  }
  if (!batch.empty) await commit()
}
