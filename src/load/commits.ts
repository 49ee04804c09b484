import type { Published, Writer } from '#store/port.ts'
import type { OpenBatch } from './batches.ts'
import type { Deriver } from './deriver.ts'
import { oneUnderWay } from './one-under-way.ts'
import type { Proving } from './proving.ts'

type Parts = {
  readonly writer: Pick<Writer, 'append' | 'commit'>
  readonly deriver: Pick<Deriver, 'settled'>
  readonly proof: Pick<Proving, 'cut'>
}

/** The batches committed so far. */
export type Committed = {
  readonly end: Published
  readonly transactions: number
  readonly records: number
}

/** Commits batches one after the other; one is on its way while the next is derived. */
export type Commits = {
  /** Begins to commit a batch, once the one before is in the store; throws why that one failed. */
  add(batch: OpenBatch): Promise<void>
  /**
   * Waits until the batch added last is given to the store: history appended from then on belongs to the batch after it.
   * Throws why that batch will never get there.
   */
  handedOver(): Promise<void>
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
  let given: Promise<void> = Promise.resolve()
  const commit = async (open: OpenBatch, onGiven: () => void): Promise<void> => {
    const { rest, ...batch } = open.close()
    const prove = proof.cut()
    const proved = await prove(batch.end)
    const end = proved === undefined ? batch.end : { ...batch.end, proved }
    await writer.append(rest)
    const done = writer.commit({ ...batch, end })
    onGiven()
    await done
    deriver.settled()
    transactions += open.transactions
    records += open.records
    onCommitted({ end, transactions, records })
  }
  return {
    add: async open => {
      await way.settle()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      given = promise
      // For most batches nobody waits.
      promise.catch(() => undefined)
      const committing = commit(open, resolve)
      committing.catch(reject)
      way.begin(committing)
    },
    handedOver: () => given,
    settle: way.settle,
  }
}
