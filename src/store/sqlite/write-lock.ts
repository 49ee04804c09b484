import { Failure } from '#failure/failure.ts'
import type { Batch, Published } from '#store/port.ts'
import type { SqliteConnection } from './connection.ts'
import { guarded } from './failures.ts'
import type { Owner } from './meta.ts'
import type { FarBatches } from './threads/far-batches.ts'
import { inTransaction, requireInPlace, requireOwn } from './transaction.ts'

export type WriteLockParts = {
  readonly name: string
  /** Writes batches; never used for reading while a transaction is open. */
  readonly writing: SqliteConnection
  /** Reads committed data, also while a batch is being written. */
  readonly reader: SqliteConnection
  readonly owner: Owner
  readonly checkpoint: Published | undefined
  readonly unlock: () => void
  /** Absent: no thread writes batches. */
  readonly far: FarBatches | undefined
}

/** The right to write to a file, which only one writer has at a time, and its two connections. */
export type WriteLock = {
  /** End of the last committed batch; the caller of `write` sets it. */
  checkpoint: Published | undefined
  readonly isWriting: boolean
  /** Throws 'conflict' after the lock was released. */
  check(): void
  /** Reads committed data. */
  read<T>(work: (reader: SqliteConnection) => T): Promise<T>
  /** Like `read`, also after the lock was released. */
  readNow<T>(work: (reader: SqliteConnection) => T): T
  /**
   * Runs `work` in a transaction. Throws 'defect' while another one is open, and 'conflict' when another
   * writer took over.
   */
  write(work: (writing: SqliteConnection) => void | Promise<void>): Promise<void>
  /** Lets a thread write a batch, with the same errors. false: the caller must use `write`. */
  writeFar(batch: Batch): Promise<boolean>
  release(): Promise<void>
}

export function createWriteLock(parts: WriteLockParts): WriteLock {
  const { name, writing, reader, owner, unlock, far } = parts
  let { checkpoint } = parts
  const commits = oneAtATime()
  let released = false
  const check = (): void => {
    if (released) throw new Failure('conflict', `This loader has released ${name}.`)
  }
  return {
    get checkpoint() {
      return checkpoint
    },
    set checkpoint(end) {
      checkpoint = end
    },
    get isWriting() {
      return commits.running() !== undefined
    },
    check,
    read: async work => {
      check()
      return guarded(name, () => work(reader))
    },
    readNow: work => guarded(name, () => work(reader)),
    write: async work => {
      check()
      const end = commits.begin()
      try {
        await inTransaction(writing, name, async () => {
          requireOwn(writing, name, owner)
          await work(writing)
        })
      } finally {
        end()
      }
    },
    writeFar: async batch => {
      if (far === undefined) return false
      check()
      const end = commits.begin()
      try {
        // Makes sure that the file is in place; the thread's own connection must be of the same file.
        requireInPlace(writing, name)
        return await far.commit(batch)
      } finally {
        end()
      }
    },
    release: async () => {
      if (released) return
      released = true
      await commits.running()
      await far?.close()
      reader.close()
      writing.close()
      unlock()
    },
  }
}

/** Admits one batch at a time. */
function oneAtATime() {
  let running: Promise<unknown> | undefined
  return {
    running: () => running,
    /** Marks a batch's start; the returned function marks its end. Throws 'defect' while another batch is open. */
    begin: (): (() => void) => {
      if (running !== undefined) throw new Failure('defect', 'A batch is already being committed.')
      const { promise, resolve } = Promise.withResolvers<void>()
      running = promise
      return () => {
        running = undefined
        resolve()
      }
    },
  }
}
