import type { Batch, History, Writer } from '#store/port.ts'

type Cut = { readonly ahead: History; readonly rest: Batch }

/** A batch as two: history of its blocks below `height`, to be stored ahead, and the rest. */
export const cutBatch = (batch: Batch, height: number): Cut => {
  const part = <T extends { readonly height: number }>(docs: readonly T[], below: boolean): readonly T[] =>
    docs.filter(doc => doc.height < height === below)
  const history = (below: boolean) => ({
    blocks: part(batch.blocks, below),
    transactions: part(batch.transactions, below),
    records: part(batch.records, below),
  })
  return { ahead: { ...history(true), filling: batch.filling }, rest: { ...batch, ...history(false) } }
}

/** What is left of a batch once its history below `height` is stored ahead. */
export const restOf = (batch: Batch, height: number): Batch => cutBatch(batch, height).rest

/** Stores history ahead; a writer that does not take it is no writer of this store. */
export const staged = async (writer: Writer, history: History): Promise<void> => {
  if (writer.stage === undefined)
    throw new TypeError('This writer does not accept history ahead of its batch.')
  await writer.stage(history)
}
