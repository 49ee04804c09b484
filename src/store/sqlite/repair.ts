import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { Published } from '#store/port.ts'
import type { RepairWriter } from '#store/repair-port.ts'
import type { SqliteConnection } from './connection.ts'
import { getPublished, isUnderRepair, putIdentity, putPublished, putUnderRepair } from './meta.ts'
import { getById, lastBlock } from './read.ts'
import { deleteHistory, rewriteDocuments } from './rewrite.ts'
import { clearUndo, findUndoHeight, takeBack } from './undo.ts'
import type { WriteLock } from './write-lock.ts'

/** The part of the writer that only repairs use. */
export const createSqliteRepairWriter = (lock: WriteLock): RepairWriter => ({
  rewrite: rewrite =>
    lock.write(writing => {
      clearUndo(writing)
      rewriteDocuments(writing, rewrite)
    }),
  get unfinished() {
    return lock.readNow(isUnderRepair)
  },
  shut: () => lock.write(writing => putUnderRepair(writing, true)),
  blockAt: height => lock.read(reader => getById(reader, blocks, blockId(height)) as BlockDoc | undefined),
  endings: () => lock.read(listEndings),
  takeBack: async height => {
    let end: Published | undefined
    await lock.write(writing => {
      end = takeBack(writing, height)
      if (end !== undefined) putUnderRepair(writing, false)
    })
    lock.checkpoint = end ?? lock.checkpoint
    return end
  },
  settle: async ({ identity, end, open }) => {
    await lock.write(writing => {
      // The kept batches must end at the new end.
      if (findUndoHeight(writing) !== end.height) clearUndo(writing)
      deleteHistory(writing, end.height)
      putIdentity(writing, identity)
      putPublished(writing, end)
      putUnderRepair(writing, !open)
    })
    lock.checkpoint = end
  },
})

/** Heights of the published record, of the last block, and of the last batch that can be reverted. */
const listEndings = (reader: SqliteConnection): readonly number[] =>
  [getPublished(reader)?.height, lastBlock(reader), findUndoHeight(reader)].filter(height => height !== undefined)
