import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import { createFile } from '#store/own-files.ts'
import type { Identity, KeyStore, Store } from '#store/port.ts'
import { sync } from '#store/sqlite/backup.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { computeDigests, type DigestOptions } from './digest.ts'
import { readThrough } from './file-digest.ts'
import { computeKeysDigest } from './keys-digest.ts'
import { manifestText, type StoreManifest } from './manifest.ts'

/** Path of the manifest of a copy. */
export const manifestPath = (file: string): string => `${file}.manifest.json`

type Described = Omit<Store, 'keys'> & { readonly keys: Pick<KeyStore, 'list'> }

/** The manifest of a store: its chain, and the digests at its published height and of its API keys. */
export async function describedStore(store: Described, how: DigestOptions): Promise<StoreManifest> {
  const audit = await store.audit()
  try {
    const identity: Identity | undefined = await store.identity()
    if (identity === undefined) throw nothingLoaded(store.name)
    const { height, hash } = audit.at
    const digests = [...(await computeDigests(store, audit, how)), await computeKeysDigest(store.keys)]
    return { ...identity, height, hash, digests }
  } finally {
    await audit.close()
  }
}

/** Writes the manifest of a copy that does not have its final name yet; `file` is that name. */
export async function describeCopy(partial: string, file: string, how: DigestOptions): Promise<StoreManifest> {
  const copy = openSqlite({ path: partial, readonly: true })
  try {
    const described = await describedStore(copy, how)
    const of = statSync(partial).size
    const digest = await readThrough(partial, {
      signal: how.signal,
      onRead: bytes => how.onProgress({ stage: 'MB of the file', done: megabytes(bytes), of: megabytes(of) }),
    })
    const manifest = { ...described, file: digest }
    writeManifest(manifestPath(file), manifest)
    return manifest
  } finally {
    await copy.close()
  }
}

/** The manifest is whole or absent, and nothing is left of one that could not be written. */
function writeManifest(path: string, manifest: StoreManifest): void {
  const partial = `${path}.partial`
  try {
    createFile(partial)
    writeFileSync(partial, manifestText(manifest))
    sync(partial)
    renameSync(partial, path)
  } finally {
    rmSync(partial, { force: true })
  }
}

export const megabytes = (bytes: number): number => Math.round(bytes / 1e6)
