import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createFolder, giveToFolder } from '#store/own-files.ts'
import { acquireLock } from './lock.ts'

export type ScratchFolder = { readonly path: string; close(): void }

/**
 * A folder in `parent` for a temporary store, which may be as large as the real one. Folders of killed
 * processes are removed first: the lock of a folder ends with its process.
 */
export function openScratchFolder(parent: string, prefix: string): ScratchFolder {
  createFolder(parent)
  for (const entry of readdirSync(parent, { withFileTypes: true }))
    if (entry.isDirectory() && entry.name.startsWith(prefix)) removeAbandoned(join(parent, entry.name))
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

function removeAbandoned(path: string): void {
  const unlock = lockFolder(path)
  if (unlock === undefined) return
  rmSync(path, { recursive: true, force: true })
  unlock()
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
