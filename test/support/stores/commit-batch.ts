import type { Batch, History, Writer } from '#store/port.ts'

/** Appends the history of a batch and commits it. Later history belongs to the next batch. */
export async function commitBatch(writer: Writer, { end, changes, ...history }: Batch): Promise<void> {
  await Promise.all([writer.append(history), writer.commit({ end, changes })])
}

export function historyOf(history: History, first: number, last: number): History {
  const part = <T extends { readonly height: number }>(docs: readonly T[]): readonly T[] =>
    docs.filter(({ height }) => height >= first && height <= last)
  return {
    blocks: part(history.blocks),
    transactions: part(history.transactions),
    records: part(history.records),
    filling: history.filling,
  }
}

/** A batch without its history below `height`, which was appended before. */
export const restOf = (batch: Batch, height: number): Batch => ({
  ...batch,
  ...historyOf(batch, height, batch.end.height),
})
