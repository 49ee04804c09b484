import { Database } from 'bun:sqlite'
import { createFile } from '#store/own-files.ts'
import { guarded, isBusy } from './failures.ts'

/**
 * The right to write, for one loader on this machine: an exclusive file lock of the system on a file beside
 * the store. The lock ends with the process, however it dies, so it never becomes stale. undefined: another
 * process has it. The file itself remains and is empty.
 */
export const acquireLock = (path: string, name: string): (() => void) | undefined =>
  guarded(name, () => {
    const file = `${path}.lock`
    createFile(file)
    const db = new Database(file, { readwrite: true })
    try {
      db.run('BEGIN EXCLUSIVE')
    } catch (error) {
      db.close()
      if (isBusy(error)) return undefined
      throw error
    }
    return () => db.close()
  })
