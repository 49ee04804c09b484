import { statSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import type { Identity } from '#store/port.ts'
import type { SqliteConnection } from './connection.ts'
import { guarded } from './failures.ts'
import { getIdentity } from './meta.ts'

/** The file of an open store, once it was read. A file that replaces it must be a store of the same chain. */
export type StoreFileGuard = {
  /** Throws 'unavailable' when the file is gone or empty, or when its log belongs to the previous file. */
  readonly require: () => void
  /** Records an opened store. Throws 'unavailable' when a file of another chain has replaced the previous one. */
  readonly take: (connection: SqliteConnection) => void
}

type OpenedFile = { readonly file: string; readonly log: string | undefined; readonly identity: Identity }

export function createFileGuard(path: string, name: string): StoreFileGuard {
  let kept: OpenedFile | undefined
  const refuse = (what: string, help: string): never => {
    throw new Failure('unavailable', `${name} ${what}.`, { help })
  }
  return {
    require: () => {
      if (kept === undefined) return
      const file = identifyFile(path)
      if (file === undefined)
        refuse(
          'was in use and is now gone or empty',
          'Put it back, or another store of the same chain; it is used as soon as it exists. To load the chain again, restart.',
        )
      const log = identifyFile(`${path}-wal`)
      if (file !== kept.file && log !== undefined && log === kept.log)
        refuse(
          `was replaced, but ${path}-wal still belongs to the previous file`,
          `Stop the programs that use it, remove ${path}-wal and ${path}-shm, and put the file there again.`,
        )
    },
    take: connection => {
      const identity = guarded(name, () => getIdentity(connection))
      const file = identifyFile(path)
      if (identity === undefined || file === undefined) return
      const { chainId, genesis } = kept?.identity ?? identity
      // A repair may correct the identity that the file records.
      if (kept?.file !== file && (identity.chainId !== chainId || identity.genesis !== genesis))
        refuse(
          `was replaced by a store of another chain: chain ${identity.chainId} with genesis ${identity.genesis}, before chain ${chainId} with genesis ${genesis}`,
          'Put a store of the same chain there, or restart to use this one.',
        )
      kept = { file, log: identifyFile(`${path}-wal`, 0), identity }
    },
  }
}

/** Identity of the file; undefined: no file of at least `leastBytes` bytes. */
function identifyFile(path: string, leastBytes = 1): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined || found.size < leastBytes ? undefined : `${found.dev}/${found.ino}`
}
