import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createFile, createFolder, giveToFolder } from '#store/own-files.ts'
import { isBusy, mapSqliteErrors } from './connection.ts'

/** Gives the lock back. With `remove` its file goes as well, where no store is beside it. */
export type Unlock = (how?: { readonly remove?: boolean }) => void

/**
 * The right to write, for one loader on this machine: an exclusive file lock of the system on a file beside
 * the store. The lock ends with the process, however it dies, so it never becomes stale. undefined: another
 * process has it. The file is empty, and remains beside a store.
 */
export const acquireLock = (path: string, name: string): Unlock | undefined =>
  mapSqliteErrors(name, () => {
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

/**
 * A folder in `parent` for a temporary store, which may be as large as the real one. Folders of killed
 * processes are removed first: the lock of a folder ends with its process.
 */
export function openScratchFolder(parent: string, prefix: string): { readonly path: string; close(): void } {
  createFolder(parent)
  for (const entry of readdirSync(parent, { withFileTypes: true }))
    if (entry.isDirectory() && entry.name.startsWith(prefix)) {
      const abandoned = join(parent, entry.name)
      const unlock = lockFolder(abandoned)
      if (unlock === undefined) continue
      rmSync(abandoned, { recursive: true, force: true })
      unlock()
    }
  for (;;) {
    const path = mkdtempSync(join(parent, prefix))
    giveToFolder(path)
    const unlock = lockFolder(path)
    // Another process may consider the folder abandoned before it is locked.
    if (unlock === undefined) continue
    return {
      path,
      close: () => {
        rmSync(path, { recursive: true, force: true })
        unlock()
      },
    }
  }
}

/** undefined: another process has the lock, or removed the folder. */
function lockFolder(path: string): (() => void) | undefined {
  try {
    const unlock = acquireLock(join(path, 'folder'), path)
    // Folders are removed only under the lock, so from here on the folder is safe.
    if (unlock === undefined || existsSync(path)) return unlock
    unlock()
  } catch (error) {
    if (existsSync(path)) throw error
  }
  return undefined
}
