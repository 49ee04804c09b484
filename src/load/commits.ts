import type { Published, Writer } from '#store/port.ts'
import type { OpenBatch } from './batches.ts'
import type { Deriver } from './deriver.ts'
import { oneUnderWay } from './one-under-way.ts'
import type { Proving } from './proving.ts'

type Parts = {
  readonly writer: Pick<Writer, 'commit'>
  readonly deriver: Pick<Deriver, 'settled'>
  readonly proof: Pick<Proving, 'cut'>
}

/** What was committed so far. */
export type Committed = {
  readonly end: Published
  readonly transactions: number
  readonly records: number
}

/** Commits batches one after the other; one is on its way while the next is derived. */
export type Commits = {
  /** Begins to commit a batch, once the one before is in the store; throws why that one failed. */
  add(batch: OpenBatch): Promise<void>
  /** Waits for the batch on its way; throws why it failed. */
  settle(): Promise<void>
}

export const commits = (
  { writer, deriver, proof }: Parts,
  onCommitted: (committed: Committed) => void,
): Commits => {
  const way = oneUnderWay()
  let transactions = 0
  let records = 0
  const commit = async (open: OpenBatch): Promise<void> => {
    const batch = open.close()
    const prove = proof.cut()
    const proved = await prove(batch.end)
    const end = proved === undefined ? batch.end : { ...batch.end, proved }
    await writer.commit({ ...batch, end })
    deriver.settled()
    transactions += open.transactions
    records += open.records
    onCommitted({ end, transactions, records })
  }
  return {
    add: async open => {
      await way.settle()
      way.begin(commit(open))
    },
    settle: way.settle,
  }
}
