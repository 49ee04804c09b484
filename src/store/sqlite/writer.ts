import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'
import { checkBatch } from '#store/batch.ts'
import { checkIdentity } from '#store/identity.ts'
import { unfinishedRepair } from '#store/mending.ts'
import type { Identity, Published, Writer } from '#store/port.ts'
import { rankingOf } from '#store/ranking-page.ts'
import { walkRange } from '#store/walk.ts'
import { writeBatch } from './commit.ts'
import { type Connection, openReader, openWriter } from './connection.ts'
import { guarded } from './failures.ts'
import { acquireLock } from './lock.ts'
import {
  getIdentity,
  getOwner,
  getPublished,
  isMending,
  type Owner,
  putIdentity,
  putMending,
  putOwner,
  putPublished,
} from './meta.ts'
import { rankedRows } from './rank.ts'
import { dueBalances, getById } from './read.ts'
import { removeHistoryAbove, rewriteDocuments } from './rewrite.ts'
import { differencesOf, inspect, refuseDifferent } from './schema.ts'
import { quoted, tableOf } from './tables.ts'
import { inTransaction } from './transaction.ts'
import { clearUndo, createUndo, keepUndo, lastKept, takeBack } from './undo.ts'

/** Opens the store for writing, alone. `Store.takeOver`. */
export const takeOver = async (
  path: string,
  name: string,
  identity: Identity,
  { mending = false }: { readonly mending?: boolean } = {},
): Promise<Writer> => {
  const opened = openWriter(path, name)
  const release = { lock: () => {}, reader: () => {} }
  try {
    if (opened === undefined || inspect(opened, name) === 'empty') throw notCreated(name)
    const differences = guarded(name, () => differencesOf(opened))
    refuseDifferent(name, differences)
    if (differences.length > 0) throw notCreated(name)
    release.lock = acquireLock(path, name) ?? refuseSecond(opened, name)
    const reader = openReader(path, name)
    if (reader === undefined) throw notCreated(name)
    release.reader = reader.close
    const owner: Owner = {
      token: crypto.randomUUID(),
      pid: process.pid,
      since: new Date().toISOString(),
    }
    const checkpoint = await inTransaction(opened, name, () => {
      const stored = getIdentity(opened)
      checkIdentity(name, stored, identity)
      if (!mending && isMending(opened)) throw unfinishedRepair(name)
      createUndo(opened)
      if (stored === undefined) putIdentity(opened, identity)
      putOwner(opened, owner)
      return getPublished(opened)
    })
    return writerOf({ name, pen: opened, reader, owner, checkpoint, unlock: release.lock })
  } catch (error) {
    release.reader()
    opened?.close()
    release.lock()
    throw error
  }
}

const notCreated = (name: string): Failure =>
  new Failure('conflict', `${name} is not created, or only in part.`, {
    help: 'Run `iostlens indices create` first.',
  })

export const refuseSecond = (connection: Connection, name: string): never => {
  const owner = guarded(name, () => getOwner(connection))
  const who = owner === undefined ? '' : ` (process ${owner.pid}, since ${owner.since})`
  throw new Failure('conflict', `Another loader is writing to ${name}${who}.`, {
    help: 'Stop it first, or load into another store.',
    retryable: true,
  })
}

type Parts = {
  readonly name: string
  /** Writes batches; nothing is read here while one is open. */
  readonly pen: Connection
  /** Reads what was committed, also while a batch is being written. */
  readonly reader: Connection
  readonly owner: Owner
  readonly checkpoint: Published | undefined
  readonly unlock: () => void
}

const writerOf = ({ name, pen, reader, owner, unlock, ...begun }: Parts): Writer => {
  let { checkpoint } = begun
  let running: Promise<void> | undefined
  let released = false
  const check = () => {
    if (released) throw new Failure('conflict', `This loader has released ${name}.`)
  }

  /** Writes in a transaction while the pen is ours. */
  const write = (work: () => void | Promise<void>): Promise<void> =>
    inTransaction(pen, name, async () => {
      // The lock is by path: another one may lead to the same file.
      const now = getOwner(pen)
      if (now?.token !== owner.token)
        throw new Failure(
          'conflict',
          `Another loader has taken over ${name} (process ${now?.pid}, since ${now?.since}).`,
          { retryable: true },
        )
      if (!pen.isInPlace())
        throw new Failure('conflict', `${name} was removed or replaced during loading.`, {
          help: 'Restore the right store file, without the -wal and -shm files of another one, and start again.',
        })
      await work()
    })
  const alone = async (work: () => void | Promise<void>): Promise<void> => {
    if (running !== undefined) throw new Failure('defect', 'A batch is already being committed.')
    running = write(work)
    try {
      await running
    } finally {
      running = undefined
    }
  }

  return {
    get checkpoint() {
      return checkpoint
    },
    getMany: async keys => {
      check()
      return guarded(name, () => snapshot(reader, () => keys.map(key => stateOf(reader, key))))
    },
    due: async range => {
      check()
      return guarded(name, () => dueBalances(reader, range))
    },
    members: range => {
      check()
      return walkRange(range, async (after, limit) =>
        guarded(name, () => membersAfter(reader, range, after, limit)),
      )
    },
    commit: async batch => {
      check()
      if (running === undefined) checkBatch(batch, checkpoint)
      await alone(async () => {
        keepUndo(pen, batch, checkpoint)
        await writeBatch(pen, batch)
      })
      checkpoint = batch.end
    },
    rewrite: async rewrite => {
      check()
      await alone(() => {
        clearUndo(pen)
        rewriteDocuments(pen, rewrite)
      })
    },
    get unfinished() {
      return guarded(name, () => isMending(reader))
    },
    blockAt: async height => {
      check()
      return guarded(name, () => getById(reader, blocks, blockId(height))) as BlockDoc | undefined
    },
    endings: async () => {
      check()
      return guarded(name, () => endingsOf(reader))
    },
    takeBack: async height => {
      check()
      let end: Published | undefined
      await alone(() => {
        end = takeBack(pen, height)
        if (end !== undefined) putMending(pen, false)
      })
      checkpoint = end ?? checkpoint
      return end
    },
    settle: async ({ identity, end, open }) => {
      check()
      await alone(() => {
        // What was kept ends where the last batch does.
        if (lastKept(pen) !== end.height) clearUndo(pen)
        removeHistoryAbove(pen, end.height)
        putIdentity(pen, identity)
        putPublished(pen, end)
        putMending(pen, !open)
      })
      checkpoint = end
    },
    release: async () => {
      if (released) return
      released = true
      await running?.catch(() => {})
      reader.close()
      pen.close()
      unlock()
    },
  }
}

/** What is published, the last block, and the last batch that can be taken back. */
const endingsOf = (reader: Connection): readonly number[] => {
  const block = reader.row(`SELECT max("id") FROM ${quoted(tableOf(blocks).name)}`)?.[0]
  return [
    getPublished(reader)?.height,
    typeof block === 'string' ? Number(block) : undefined,
    lastKept(reader),
  ].filter(height => height !== undefined)
}

/** Several statements, one state. */
const snapshot = <T>({ db }: Connection, work: () => T): T => {
  db.run('BEGIN')
  try {
    return work()
  } finally {
    db.run('COMMIT')
  }
}

const membersAfter = (
  reader: Connection,
  members: StandingRange,
  after: Standing | undefined,
  limit: number,
): readonly Change['doc'][] => {
  // Counted orders are orders of state.
  const ranking = rankingOf({ ...members, index: members.index as StateIndex })
  const range = { after, tied: Number.POSITIVE_INFINITY }
  const docs: readonly object[] = rankedRows(reader, ranking, { range, skip: 0, limit })
  return docs as readonly Change['doc'][]
}

const stateOf = (reader: Connection, { index, id }: Key) =>
  getById(reader, index, id) as Change['doc'] | undefined
