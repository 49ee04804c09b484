import { isBasePlace } from '#chain/base-transaction.ts'
import type { Receipt } from '#chain/block.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { applies, isMovement, splitFuncName } from '#chain/effects.ts'
import { Failure } from '#failure/failure.ts'
import { recordId } from '#indices/list.ts'
import { type ListedRecord, records } from '#indices/record.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { FoundTransaction, TransactionPosition } from './block.ts'
import { refuseWhileLoading } from './loading.ts'

/**
 * The records of the given transactions: for each, first those of its actions, then the others. A transaction
 * in the pool has none. Throws 'unavailable' or 'loading' for one in a block that only the node has: its
 * records are not known yet.
 */
export async function readTransactionRecords(
  context: Pick<Context, 'view' | 'node'>,
  found: readonly FoundTransaction[],
): Promise<readonly (readonly ListedRecord[])[]> {
  const stored = found.flatMap(({ place, body }) =>
    place === undefined || place.above !== undefined ? [] : [toRecordShape(place, body)],
  )
  const ofStored = await readStoredRecords(context.view, stored)
  let next = 0
  return found.map(({ place, status }) => {
    if (place?.above !== undefined) {
      const { above, tx } = place
      return above.rows.filter(({ doc }) => doc.tx === tx).map(({ doc }) => doc)
    }
    if (place !== undefined) return ofStored[next++] ?? []
    if (status !== 'PENDING') throw notYet(context)
    return []
  })
}

function notYet(context: Pick<Context, 'view' | 'node'>): Failure {
  refuseWhileLoading(context, { en: 'The list of records of the transaction', zh: '交易的记录' })
  const { height } = context.view.at
  return new Failure(
    'unavailable',
    `The records of a transaction are known as soon as its block is published; block ${height} is the last published one.`,
    {
      zh: `交易的记录在其区块发布后即可查询；最新已发布的区块为 ${height}。`,
      details: { height, retryAfter: 1 },
    },
  )
}

/** The records that a stored transaction can have. */
type RecordShape = {
  readonly hash: string
  /** Ids of the records of its actions, a base transaction has none; then one for each of the movements. */
  readonly ids: readonly string[]
  readonly actions: number
  /**
   * Number of receipts shown as records, of an action or separate, so that fewer of the latter exist; undefined: the
   * transaction had no effect.
   */
  readonly movements: number | undefined
  /** Number of these receipts that may be neither: the last one of a base transaction pays for the block before. */
  readonly spare: number
}

function toRecordShape(place: TransactionPosition, body: string): RecordShape {
  const { height, tx } = place
  const decoded = decodeTransaction(body)
  const isBase = isBasePlace(place)
  const actions = isBase ? 0 : decoded.actions.length
  const movements = applies(decoded) ? countMovements(decoded.receipt.receipts) : undefined
  // The records of movements are numbered after all actions, also where these have none.
  const skipped = decoded.actions.length - actions
  const ids = Array.from({ length: actions + (movements ?? 0) }, (_, at) => recordId(height, tx, skipped + at))
  return { hash: decoded.hash, ids, actions, movements, spare: isBase ? Math.min(1, movements ?? 0) : 0 }
}

const countMovements = (receipts: readonly Receipt[]): number =>
  receipts.filter(({ funcName }) => {
    const { contract, name } = splitFuncName(funcName)
    return isMovement(contract, name)
  }).length

/**
 * The records of stored transactions, in at most two reads: the number of the other records follows from those of the
 * actions, and a record that does not exist would be looked for in vain. Throws 'damaged' if one is missing.
 */
async function readStoredRecords(
  view: View,
  shapes: readonly RecordShape[],
): Promise<readonly (readonly ListedRecord[])[]> {
  const ofActions = await readRecordRuns(
    view,
    shapes.map(({ ids, actions }) => ids.slice(0, actions)),
  )
  const counts = shapes.map((shape, at) => countRecords(shape, ofActions[at] ?? []))
  const others = await readRecordRuns(
    view,
    shapes.map(({ ids, actions }, at) => ids.slice(actions, counts[at])),
  )
  return shapes.map(({ ids, spare }, at) => {
    const docs = [...(ofActions[at] ?? []), ...(others[at] ?? [])]
    const lost = docs.slice(0, docs.length - spare).indexOf(undefined)
    if (lost >= 0) throw missingData(`Record ${ids[lost]} is not stored.`)
    return docs.filter(doc => doc !== undefined)
  })
}

/** The number of a transaction's records: its actions say how many of the movements are theirs. */
function countRecords(
  { hash, actions, movements }: RecordShape,
  ofActions: readonly (ListedRecord | undefined)[],
): number {
  if (movements === undefined) return actions
  const owned = ofActions.filter(doc => (doc?.amount ?? doc?.creator) !== undefined).length
  if (owned > movements)
    throw missingData(`The stored actions of transaction ${hash} claim ${owned} of its ${movements} movements.`)
  return actions + movements - owned
}

async function readRecordRuns(
  view: View,
  runs: readonly (readonly string[])[],
): Promise<readonly (readonly (ListedRecord | undefined)[])[]> {
  const ids = runs.flat()
  const docs = ids.length === 0 ? [] : await view.getMany(records, ids)
  let next = 0
  return runs.map(run => {
    const own = docs.slice(next, next + run.length)
    next += run.length
    return own
  })
}
