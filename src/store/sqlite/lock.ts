import { Database } from 'bun:sqlite'
import { rmSync, statSync } from 'node:fs'
import { createFile } from '#store/own-files.ts'
import { guarded, isBusy } from './failures.ts'

/** Gives the lock back. With `remove` its file goes as well, where no store is beside it. */
type Unlock = (how?: { readonly remove?: boolean }) => void

/**
 * The right to write, for one loader on this machine: an exclusive file lock of the system on a file beside
 * the store. The lock ends with the process, however it dies, so it never becomes stale. undefined: another
 * process has it. The file is empty, and remains beside a store.
 */
export const acquireLock = (path: string, name: string): Unlock | undefined =>
  guarded(name, () => {
    const file = `${path}.lock`
    for (;;) {
      const lock = lockFile(file)
      if (lock === undefined) return undefined
      if (lock !== 'removed')
        return ({ remove = false } = {}) => {
          if (remove) rmSync(file, { force: true })
          lock.close()
        }
    }
  })

/** undefined: another process has the lock. `removed`: the process that had it removed the file meanwhile. */
function lockFile(file: string): Database | 'removed' | undefined {
  createFile(file)
  const before = findInode(file)
  let db: Database | undefined
  try {
    db = new Database(file, { readwrite: true })
    db.run('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    if (isBusy(error)) return undefined
    if (findInode(file) === undefined) return 'removed'
    throw error
  }
  if (before !== undefined && before === findInode(file)) return db
  db.close()
  return 'removed'
}

function findInode(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino
}
