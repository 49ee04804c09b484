import { existsSync, linkSync, readFileSync, rmSync, statSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import { describeForeign, fetchChain } from '#node/pool.ts'
import type { Node } from '#node/port.ts'
import type { SnapshotName, Snapshots } from '#store/maintain-port.ts'
import type { Store } from '#store/port.ts'
import { acquireLock } from '#store/sqlite/lock.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import {
  describeStore,
  isAsDigested,
  manifestPath,
  readManifest,
  readThrough,
  reportInMegabytes,
  type StoreManifest,
  toMegabytes,
} from './backup.ts'
import { type DigestOptions, findKeysDigest, KEYS, requireSameDigests } from './digest.ts'

type Restoring = DigestOptions & { readonly node: Node }

/**
 * Restores a copy to a path where no store exists. Its bytes must match its manifest, and its last block must be on the
 * node's chain. After a kill at any moment, the path is free or has the whole store; the next run starts again.
 * `isThere`: a run that was killed at its very end had put the store in place. Throws 'usage' when the path is taken,
 * 'damaged' with the index that differs, 'conflict' for another chain.
 */
export async function restoreFile(
  file: string,
  path: string,
  how: Restoring,
): Promise<{ readonly manifest: StoreManifest; readonly isThere: boolean }> {
  for (const each of [file, manifestPath(file)])
    if (!existsSync(each))
      throw new Failure('usage', `There is no ${each}.`, {
        help: "Name a copy that 'iostlens backup' made; its manifest is beside it.",
      })
  const { manifest, isSealed } = readManifest(readFileSync(manifestPath(file), 'utf8'), manifestPath(file))
  await requireOnChain(how.node, manifest, how.signal)
  if (existsSync(path)) {
    await requireRestored(path, manifest, how)
    return { manifest, isThere: true }
  }
  const unlock = acquireLock(path, path)
  if (unlock === undefined)
    throw new Failure('usage', `Another program writes to ${path}.`, {
      help: 'Stop it, or set --store to a file that does not exist yet.',
    })
  try {
    const isThere = existsSync(path)
    if (isThere) await requireRestored(path, manifest, how)
    else await copyInto(path, { file, manifest, isSealed }, how)
    return { manifest, isThere }
  } finally {
    // A restore that failed leaves nothing behind.
    unlock({ remove: !existsSync(path) })
  }
}

/** Copies under the lock of the path, so that no loader or other restore writes there meanwhile. */
async function copyInto(
  path: string,
  { file, manifest, isSealed }: { readonly file: string; manifest: StoreManifest; isSealed: boolean },
  how: Restoring,
): Promise<void> {
  const partial = `${path}.partial`
  rmSync(partial, { force: true })
  try {
    const of = toMegabytes(statSync(file).size)
    const copied = await readThrough(file, {
      into: partial,
      signal: how.signal,
      onRead: bytes => how.onProgress({ stage: 'MB of the file', done: toMegabytes(bytes), of }),
    })
    // If a sealed manifest has the hash of these bytes, its digests are theirs. They are computed again only to name what
    // differs.
    if (!isSealed || copied.sha256 !== manifest.file?.sha256) throw await changed(file, { partial, manifest }, how)
    // A leftover write-ahead log must not be applied to the new file.
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    linkSync(partial, path)
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${partial}${end}`, { force: true })
  }
}

/** The failure for a file that does not match its manifest: it names the index that differs, if that can be found. */
async function changed(
  file: string,
  { partial, manifest }: { readonly partial: string; readonly manifest: StoreManifest },
  how: Restoring,
): Promise<unknown> {
  const store = openSqlite({ path: partial, readonly: true })
  try {
    requireSame(file, await describeStore(store, how), manifest)
  } catch (error) {
    if (how.signal.aborted || !(error instanceof Failure) || error.kind === 'damaged') return error
    return new Failure('damaged', `${file} is not a whole copy: ${error.message}`, { cause: error })
  } finally {
    await store.close()
  }
  const help = 'Take another copy. The places of rows in lists may have been changed.'
  return new Failure(
    'damaged',
    `${file} has all documents that its manifest lists, but one of the two was changed since they were written.`,
    { help },
  )
}

/** Throws 'usage' unless the existing store is this copy, put in place by a run that was killed at its very end. */
async function requireRestored(path: string, manifest: StoreManifest, how: Restoring): Promise<void> {
  const taken = (cause: unknown) => {
    const isKnown = cause instanceof Failure && cause.kind === 'damaged'
    const difference = isKnown ? ` (${cause.message.replace(/[.]$/, '')})` : ''
    return new Failure('usage', `${path} exists and is not that copy${difference}; a restore replaces no store.`, {
      help: 'Set --store to a file that does not exist yet, or stop iostlens and remove this one with its -wal and -shm files.',
      cause,
    })
  }
  const store = openSqlite({ path, readonly: true })
  try {
    if ((await store.published())?.hash !== manifest.hash) throw taken(undefined)
    requireSame(path, await describeStore(store, how), manifest)
  } catch (error) {
    throw how.signal.aborted ? error : taken(error)
  } finally {
    await store.close()
  }
}

/**
 * Has the server restore a snapshot, unless its indices exist already, restored by hand or by a run that was killed.
 * The store is accepted if its last block is on the node's chain and its data matches the manifest in it. The data
 * matches without a check if the server has just restored it and nothing was written after the digests were taken.
 * Otherwise the digests of the indices and of the API keys are compared. Until then nobody reads the indices. May be
 * repeated. Throws 'damaged' with the index that differs, 'conflict' for another chain.
 */
export async function restoreFromSnapshot(
  store: Store & { readonly snapshots: Snapshots },
  snapshot: SnapshotName,
  how: Restoring,
): Promise<StoreManifest> {
  const { snapshots, name } = store
  const keys = { list: () => snapshots.keys() }
  const isRestored = await snapshots.restore(snapshot, { signal: how.signal, onProgress: reportInMegabytes(how) })
  const text = await snapshots.kept()
  const help = "Take snapshots with 'iostlens backup'. This one has to be audited: 'iostlens repair --node URL'."
  if (text === undefined) throw new Failure('damaged', `${name} has no manifest.`, { help })
  const { manifest, isSealed } = readManifest(text, `The manifest in ${name}`)
  if (!isSealed) throw new Failure('damaged', `The manifest in ${name} was changed: its seal is wrong.`, { help })
  await requireOnChain(how.node, manifest, how.signal)
  const { chainId, genesis, derivation } = manifest
  const writer = await store.takeOver({ chainId, genesis, derivation }, { repair: true })
  try {
    // The server verifies each file of a snapshot by its checksum. Documents are read when there were writes
    // after the digests, or when an earlier run restored the indices and they may have changed since.
    const { height, hash } = writer.checkpoint ?? {}
    const isDescribed = isRestored && height === manifest.height && hash === manifest.hash
    if (!isDescribed || !isAsDigested(manifest.digests, await snapshots.writePositions()))
      requireSame(name, await describeStore({ ...store, keys }, how), manifest)
    await writer.accept?.()
    return manifest
  } finally {
    await writer.release()
  }
}

/**
 * Throws 'conflict' unless the last block of a copy is on the node's chain. The node's block is proved at the
 * level of the node. Throws 'unavailable' while the node does not have the block.
 */
async function requireOnChain(
  node: Pick<Node, 'name' | 'chainInfo' | 'blockHash' | 'blocks'>,
  { chainId, genesis, height, hash }: Pick<StoreManifest, 'chainId' | 'genesis' | 'height' | 'hash'>,
  signal: AbortSignal,
): Promise<void> {
  const info = await fetchChain(node, signal)
  const why = describeForeign({ chainId, genesis }, info)
  if (why !== undefined)
    throw new Failure('conflict', `The copy is of another chain than ${node.name} serves: ${why}.`, {
      help: 'Set --node to a node of the chain that the copy is of.',
    })
  if (info.libBlock < height)
    throw new Failure('unavailable', `The copy ends at block ${height}, but ${node.name} at block ${info.libBlock}.`, {
      help: 'Wait until the node has it, or set another one.',
    })
  for await (const { block } of node.blocks({ from: height, to: height, lib: info.libBlock, signal })) {
    if (block.hash === hash) return
    throw new Failure(
      'conflict',
      `The copy ends with block ${height} ${hash}, but that block of ${node.name} is ${block.hash}: they are of different chains.`,
      { help: 'Set --node to a node of the chain that the copy is of, or take another copy.' },
    )
  }
  throw new Failure('unavailable', `The node ${node.name} did not return block ${height}.`)
}

/** Throws 'conflict' for another chain, height or derivation, 'damaged' with the index that differs or for other API keys. */
function requireSame(name: string, found: StoreManifest, manifest: StoreManifest): void {
  for (const of of ['chainId', 'genesis', 'derivation', 'height', 'hash'] as const)
    if (found[of] !== manifest[of])
      throw new Failure('conflict', `${name}: its ${of} is ${found[of]}, but the manifest says ${manifest[of]}.`, {
        help: 'The manifest belongs to another copy.',
      })
  const ofDocuments = ({ digests }: StoreManifest) => digests.filter(({ index }) => index !== KEYS)
  requireSameDigests(name, ofDocuments(found), ofDocuments(manifest))
  const [has, wanted] = [findKeysDigest(found.digests), findKeysDigest(manifest.digests)]
  // Manifests of earlier versions have no digest of keys.
  if (wanted === undefined || (has?.documents === wanted.documents && has.sum === wanted.sum)) return
  throw new Failure('damaged', `${name}: its API keys are not those of the manifest.`, {
    help: 'Keys were added, changed or removed since the copy was made: restore it again, or take another one.',
    details: { index: KEYS },
  })
}
