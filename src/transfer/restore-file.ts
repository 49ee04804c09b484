import { existsSync, linkSync, readFileSync, rmSync, statSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { acquireLock } from '#store/sqlite/lock.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { describedStore, manifestPath, megabytes } from './backup-file.ts'
import type { DigestOptions } from './digest.ts'
import { readThrough } from './file-digest.ts'
import { readManifest, type StoreManifest } from './manifest.ts'
import { requireOnChain } from './require-on-chain.ts'
import { requireSame } from './require-same.ts'

type Restoring = DigestOptions & { readonly node: Node }

/** The result of a restore. `isThere`: a run that was killed at its very end had already put the store in place. */
export type RestoredFile = { readonly manifest: StoreManifest; readonly isThere: boolean }

/**
 * Restores a copy to a path where no store exists. Its bytes must match its manifest, and its last block must be on the
 * node's chain. After a kill at any moment, the path is free or has the whole store; the next run starts again. Throws
 * 'usage' when the path is taken, 'damaged' with the index that differs, 'conflict' for another chain.
 */
export async function restoreFile(file: string, path: string, how: Restoring): Promise<RestoredFile> {
  const { manifest, isSealed } = manifestOfFile(file)
  await requireOnChain(how.node, manifest, how.signal)
  if (existsSync(path)) return found(path, manifest, how)
  const unlock = acquireLock(path, path)
  if (unlock === undefined)
    throw new Failure('usage', `Another program writes to ${path}.`, {
      help: 'Stop it, or set --store to a file that does not exist yet.',
    })
  try {
    return existsSync(path) ? await found(path, manifest, how) : await copyInto(path, { file, manifest, isSealed }, how)
  } finally {
    // A restore that failed leaves nothing behind.
    unlock({ remove: !existsSync(path) })
  }
}

/** The result for a store that is already in place. */
async function found(path: string, manifest: StoreManifest, how: Restoring): Promise<RestoredFile> {
  await requireRestored(path, manifest, how)
  return { manifest, isThere: true }
}

type Copy = { readonly file: string; readonly manifest: StoreManifest; readonly isSealed: boolean }

/** Copies under the lock of the path, so that no loader or other restore writes there meanwhile. */
async function copyInto(path: string, { file, manifest, isSealed }: Copy, how: Restoring): Promise<RestoredFile> {
  const partial = `${path}.partial`
  rmSync(partial, { force: true })
  try {
    const of = megabytes(statSync(file).size)
    const copied = await readThrough(file, {
      into: partial,
      signal: how.signal,
      onRead: bytes => how.onProgress({ stage: 'MB of the file', done: megabytes(bytes), of }),
    })
    // These are the bytes of the digests, which are taken again only to report a difference.
    if (!isSealed || copied.sha256 !== manifest.file?.sha256) throw await changed(file, { partial, manifest }, how)
    // A leftover write-ahead log must not be applied to the new file.
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    linkSync(partial, path)
    return { manifest, isThere: false }
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${partial}${end}`, { force: true })
  }
}

function manifestOfFile(file: string) {
  const path = manifestPath(file)
  for (const each of [file, path])
    if (!existsSync(each))
      throw new Failure('usage', `There is no ${each}.`, {
        help: "Name a copy that 'iostlens backup' made; its manifest is beside it.",
      })
  return readManifest(readFileSync(path, 'utf8'), path)
}

/** The failure for a file that does not match its manifest: it names the index that differs, if that can be found. */
async function changed(
  file: string,
  { partial, manifest }: { readonly partial: string; readonly manifest: StoreManifest },
  how: Restoring,
): Promise<unknown> {
  try {
    requireSame(file, await describedFile(partial, how), manifest)
  } catch (error) {
    if (how.signal.aborted || !(error instanceof Failure) || error.kind === 'damaged') return error
    return new Failure('damaged', `${file} is not a whole copy: ${error.message}`, { cause: error })
  }
  const help = 'Take another copy. The places of rows in lists may have been changed.'
  return new Failure(
    'damaged',
    `${file} has all documents that its manifest lists, but one of the two was changed since they were written.`,
    { help },
  )
}

async function describedFile(path: string, how: Restoring): Promise<StoreManifest> {
  const store = openSqlite({ path, readonly: true })
  try {
    return await describedStore(store, how)
  } finally {
    await store.close()
  }
}

/** Throws 'usage' unless the existing store is this copy, put in place by a run that was killed at its very end. */
async function requireRestored(path: string, manifest: StoreManifest, how: Restoring): Promise<void> {
  const taken = (cause: unknown) =>
    new Failure('usage', `${path} exists and is not that copy${describeCause(cause)}; a restore replaces no store.`, {
      help: 'Set --store to a file that does not exist yet, or stop iostlens and remove this one with its -wal and -shm files.',
      cause,
    })
  const store = openSqlite({ path, readonly: true })
  try {
    if ((await store.published())?.hash !== manifest.hash) throw taken(undefined)
    requireSame(path, await describedStore(store, how), manifest)
  } catch (error) {
    throw how.signal.aborted ? error : taken(error)
  } finally {
    await store.close()
  }
}

/** The difference, if known. */
const describeCause = (cause: unknown): string =>
  cause instanceof Failure && cause.kind === 'damaged' ? ` (${cause.message.replace(/[.]$/, '')})` : ''
