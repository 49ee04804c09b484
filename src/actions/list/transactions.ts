import type { HeadBlock } from '#head/head-state.ts'
import { transactionId } from '#indices/position.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { listStretches, RUN_LENGTH, runId, type Stretch, transactionRuns } from '#indices/transaction-run.ts'
import { missingData } from '#store/missing-data.ts'
import type { Moment, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { readBlockTimes } from '../find/blocks-at.ts'
import { withHead } from './head-rows.ts'
import type { Numbered } from './list-rows.ts'
import { numberedRows, type RangeInOrder } from './numbered.ts'

/** A transaction and the time of its block. */
type TimedTransaction = { readonly doc: TransactionDoc; readonly time: bigint }
export type NumberedTransaction = Numbered<TimedTransaction>

/**
 * Transactions of the whole chain within a range, base ones left out, like `numberedRows`; including those of
 * head blocks if requested.
 */
export async function listTransactions(
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  range: RangeInOrder,
): ReturnType<typeof numberedRows<TimedTransaction>> {
  const count = (await context.view.get(statistics, STATISTICS))?.transaction_count ?? 0
  const list = {
    count,
    moments: readTransactionMoments,
    docs: readTransactions,
    followed: { kind: 'transactions' } as const,
    idOf: ({ doc }: TimedTransaction) => doc.id,
  }
  return numberedRows(context, withHead<TimedTransaction>(list, context.head, headTransactions), range)
}

/** The transactions of a head block. */
export const headTransactions = ({ doc: { time }, transactions: all }: HeadBlock): readonly TimedTransaction[] =>
  all.map(doc => ({ doc, time }))

async function readTransactionMoments(view: View, numbers: readonly number[]): Promise<readonly Moment[]> {
  const positions = await readPositions(view, numbers)
  const times = await readBlockTimes(view, listHeights(positions))
  return positions.map(({ height }) => ({ height, time: times.get(height) as bigint }))
}

/** Transactions with the numbers `first` … `last`, in order. */
export async function readTransactions(view: View, first: number, last: number): Promise<readonly TimedTransaction[]> {
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const positions = await readPositions(view, numbers)
  const ids = positions.map(({ height, tx }) => transactionId(height, tx))
  const [docs, times] = await Promise.all([
    view.getMany(transactions, ids),
    readBlockTimes(view, listHeights(positions)),
  ])
  return ids.map((id, at) => {
    const doc = docs[at]
    if (doc === undefined) throw missingData(`Transaction '${id}', number ${first + at} of all, has no document.`)
    return { doc, time: times.get(doc.height) as bigint }
  })
}

type Position = { readonly height: number; readonly tx: number }

const listHeights = (positions: readonly Position[]): readonly number[] => positions.map(({ height }) => height)

/** Positions of the transactions with given numbers. */
async function readPositions(view: View, numbers: readonly number[]): Promise<readonly Position[]> {
  const runOf = (number: number): number => Math.floor((number - 1) / RUN_LENGTH)
  const runs = [...new Set(numbers.map(runOf))]
  const docs = await view.getMany(transactionRuns, runs.map(runId))
  const stretches = new Map(runs.map((run, at) => [run, listStretches(docs[at] ?? { blocks: [] })]))
  return numbers.map(number => {
    const position = findStretchPosition(stretches.get(runOf(number)) ?? [], (number - 1) % RUN_LENGTH)
    if (position === undefined) throw missingData(`Run ${runOf(number)} of transactions lacks number ${number} of all.`)
    return position
  })
}

function findStretchPosition(stretches: readonly Stretch[], offset: number): Position | undefined {
  let skip = offset
  for (const { height, first, count } of stretches) {
    if (skip < count) return { height, tx: first + skip }
    skip -= count
  }
  return undefined
}
