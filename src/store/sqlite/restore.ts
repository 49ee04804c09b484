import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/list.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { rebuildIdentity } from '#store/identity.ts'
import type { RestoreOutcome } from '#store/maintain-port.ts'
import { findUndoHeight } from './commit.ts'
import { openWriter, type SqliteConnection, unlessDamaged } from './connection.ts'
import { acquireLock } from './lock.ts'
import { getIdentity, getPublished, inTransaction, putIdentity, putPublished, putUnderRepair } from './meta.ts'
import { inspect } from './schema.ts'
import { getTable, quoted } from './tables.ts'
import { getById, lastBlock } from './view.ts'
import { refuseSecond } from './writer.ts'

/**
 * Rewrites the record of the last block and the chain if it is lost or cannot be read. A batch is one
 * transaction, so the last stored block is the end. If that is not certain, the store is closed to all but a
 * repair, which derives the state again.
 */
export async function restoreRecord(path: string, name: string): Promise<RestoreOutcome> {
  using connection = openWriter(path, name)
  if (connection === undefined || inspect(connection, name) === 'empty') return 'whole'
  const isLost = (read: (from: SqliteConnection) => unknown): boolean =>
    // A record that was never written is undefined, but not lost.
    unlessDamaged(() => [read(connection)]) === undefined
  const lost = { identity: isLost(getIdentity), published: isLost(getPublished) }
  if (!lost.identity && !lost.published) return 'whole'
  const unlock = acquireLock(path, name) ?? refuseSecond(connection, name)
  try {
    return await inTransaction(connection, name, () => writeAnew(connection, name, lost))
  } finally {
    unlock()
  }
}

function writeAnew(
  connection: SqliteConnection,
  name: string,
  lost: { readonly identity: boolean; readonly published: boolean },
): RestoreOutcome {
  const get = (index: AnyIndex, id: string) => getById(connection, index, id)
  if (lost.identity)
    putIdentity(
      connection,
      rebuildIdentity(name, {
        first: get(blocks, blockId(0)) as BlockDoc | undefined,
        second: get(blocks, blockId(1)) as BlockDoc | undefined,
        transaction: get(transactions, transactionId(0, 0)) as TransactionDoc | undefined,
      }),
    )
  if (!lost.published) return 'exact'
  const last = get(blocks, blockId(lastBlock(connection) ?? 0)) as BlockDoc | undefined
  if (last === undefined)
    throw new Failure('damaged', `${name} has a record of its last block that cannot be read, and no block.`, {
      help: 'Nothing in it can be restored. Remove the file and load it again.',
    })
  const { height, hash, time } = last
  putPublished(connection, { height, hash, time, lib: height })
  // Whether all blocks are stored, with as many transactions as were counted while loading.
  const countRows = (index: AnyIndex): number =>
    Number(connection.row(`SELECT count(*) FROM ${quoted(getTable(index).name)}`)?.[0])
  const isAllCounted = (): boolean => {
    const counted = get(statistics, STATISTICS) as StatisticsDoc | undefined
    return countRows(blocks) === height + 1 && countRows(transactions) === counted?.transaction_count
  }
  if (findUndoHeight(connection) === height || isAllCounted()) return 'exact'
  putUnderRepair(connection, true)
  return 'open'
}
