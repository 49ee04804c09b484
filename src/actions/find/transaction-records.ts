import { isBasePlace } from '#chain/base-transaction.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { applies, isMovement, partsOfFuncName } from '#chain/effects.ts'
import { Failure } from '#failure/failure.ts'
import { recordId } from '#indices/position.ts'
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
export async function recordsOfTransactions(
  context: Pick<Context, 'view' | 'node'>,
  found: readonly FoundTransaction[],
): Promise<readonly (readonly ListedRecord[])[]> {
  const stored = found.flatMap(({ place, body }) =>
    place === undefined || place.above !== undefined ? [] : [toRecordShape(place, body)],
  )
  const ofStored = await storedRecords(context.view, stored)
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
type Shape = {
  readonly hash: string
  readonly idOf: (index: number) => string
  /** Number of records of actions; a base transaction has none. */
  readonly actions: number
  /** The number of the first other record. */
  readonly from: number
  /** Number of receipts shown as records, of an action or separate; absent: the transaction had no effect. */
  readonly movements?: number
  /** Number of these receipts that may be neither: the last one of a base transaction pays for the block before. */
  readonly spare: number
}

function toRecordShape(place: TransactionPosition, body: string): Shape {
  const { height, tx } = place
  const decoded = decodeTransaction(body)
  const isBase = isBasePlace(place)
  const from = decoded.actions.length
  const shape = {
    hash: decoded.hash,
    idOf: (index: number) => recordId(height, tx, index),
    actions: isBase ? 0 : from,
    from,
  }
  if (!applies(decoded)) return { ...shape, spare: 0 }
  const movements = decoded.receipt.receipts.filter(({ funcName }) => {
    const { contract, name } = partsOfFuncName(funcName)
    return isMovement(contract, name)
  }).length
  return { ...shape, movements, spare: isBase ? Math.min(1, movements) : 0 }
}

/** In at most two requests: the number of the other records follows from the records of actions. */
async function storedRecords(view: View, shapes: readonly Shape[]): Promise<readonly (readonly ListedRecord[])[]> {
  const own = await runsOfRecords(
    view,
    shapes.map(({ idOf, actions }) => ({ ids: listRecordIds(idOf, 0, actions), spare: 0 })),
  )
  const others = await runsOfRecords(
    view,
    shapes.map((shape, at) => ({ ids: otherIds(shape, own[at] ?? []), spare: shape.spare })),
  )
  return shapes.map((_, at) => [...(own[at] ?? []), ...(others[at] ?? [])])
}

const listRecordIds = (idOf: Shape['idOf'], from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => idOf(from + at))

/** Ids of the records that do not belong to an action. `own`: the records of actions. */
function otherIds({ hash, idOf, from, movements }: Shape, own: readonly ListedRecord[]): readonly string[] {
  if (movements === undefined) return []
  const owned = own.filter(({ amount, creator }) => (amount ?? creator) !== undefined).length
  if (owned > movements)
    throw missingData(`The stored actions of transaction ${hash} claim ${owned} of its ${movements} movements.`)
  return listRecordIds(idOf, from, movements - owned)
}

/** Consecutive records of one transaction; the last `spare` of them may be missing. */
type Run = { readonly ids: readonly string[]; readonly spare: number }

async function runsOfRecords(view: View, runs: readonly Run[]): Promise<readonly (readonly ListedRecord[])[]> {
  const all = runs.flatMap(({ ids }) => ids)
  const docs = all.length === 0 ? [] : await view.getMany(records, all)
  let next = 0
  return runs.map(({ ids, spare }) => {
    const rows = docs.slice(next, next + ids.length)
    next += ids.length
    const there = rows.filter(row => row !== undefined)
    const lost = rows.slice(0, ids.length - spare).indexOf(undefined)
    if (lost >= 0) throw missingData(`Record ${ids[lost]} is not stored.`)
    return there
  })
}
