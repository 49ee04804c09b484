import {
  closeSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { nothingLoaded } from '#store/failures.ts'
import type { SnapshotName, Snapshots, WritePosition } from '#store/maintain-port.ts'
import { createFile } from '#store/own-files.ts'
import type { Identity, KeyStore, Store } from '#store/port.ts'
import { isCount, isHeight, toMembers } from '#store/published.ts'
import { sync } from '#store/sqlite/backup.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { yieldEventLoop } from '#time/clock.ts'
import {
  computeDigests,
  computeKeysDigest,
  type Digest,
  type DigestOptions,
  findKeysDigest,
  isSha256,
  KEYS,
  STARTS,
  sumDocuments,
} from './digest.ts'

/** Version of the manifest's format. */
const FORMAT = 1

/** Size and hash of a whole file. */
type FileDigest = { readonly bytes: number; readonly sha256: string }

/** Description of a copy of a store, stored beside it. A restored or copied store must match it. */
export type StoreManifest = Identity & {
  /** Height of the last block. */
  readonly height: number
  readonly hash: string
  readonly digests: readonly Digest[]
  /** The digest of the copy itself, if it is a single file. */
  readonly file?: FileDigest
}

/** The text of a manifest: JSON sealed with the SHA-256 of its other members. */
export const manifestText = (manifest: StoreManifest): string =>
  `${JSON.stringify({ ...toManifestMembers(manifest), seal: computeSeal(manifest) }, null, 2)}\n`

const toManifestMembers = ({ chainId, genesis, derivation, height, hash, digests, file }: StoreManifest) => ({
  format: FORMAT,
  chain_id: chainId,
  genesis,
  derivation,
  height,
  hash,
  documents: sumDocuments(digests),
  digests: digests.map(({ index, partition, documents, sum, operation }) => ({
    index,
    partition,
    documents,
    sum,
    operation,
  })),
  file: file === undefined ? undefined : { bytes: file.bytes, sha256: file.sha256 },
})

const computeSeal = (manifest: StoreManifest): string =>
  new Bun.CryptoHasher('sha256').update(JSON.stringify(toManifestMembers(manifest))).digest('hex')

/**
 * Parses a manifest and checks its seal: with a correct seal, the digest of the copy's file belongs to these digests.
 * Throws 'damaged' for a text that is no manifest, 'conflict' for a newer format; `from` names the text in messages.
 */
export function readManifest(
  text: string,
  from: string,
): { readonly manifest: StoreManifest; readonly isSealed: boolean } {
  const members = toMembers(tryParseJson(text)) ?? {}
  const { format, chain_id: chainId, seal } = members
  if (isCount(format) && format > FORMAT)
    throw new Failure('conflict', `${from} is a manifest of form ${format}; this version reads ${FORMAT}.`, {
      help: 'Use the version that wrote it.',
    })
  const { genesis, derivation, height, hash, digests, file } = members
  const ofFile = toMembers(file)
  const isWhole =
    format === FORMAT &&
    [chainId, derivation].every(isCount) &&
    isHeight(height) &&
    [genesis, hash].every(each => typeof each === 'string' && each !== '') &&
    Array.isArray(digests) &&
    digests.every(isDigest) &&
    (file === undefined || (isCount(ofFile?.['bytes']) && isSha256(ofFile['sha256'])))
  if (!isWhole)
    throw new Failure('damaged', `${from} is not a manifest of a store.`, {
      help: "Use the manifest that 'iostlens backup' wrote beside the copy.",
    })
  // Each member was checked above.
  const manifest = { chainId, genesis, derivation, height, hash, digests, file } as unknown as StoreManifest
  return { manifest, isSealed: seal === computeSeal(manifest) }
}

function isDigest(value: unknown): boolean {
  const { index, partition, documents, sum, operation } = toMembers(value) ?? {}
  return (
    typeof index === 'string' &&
    (partition === undefined || isCount(partition)) &&
    isCount(documents) &&
    isSha256(sum) &&
    (operation === undefined || operation === -1 || isCount(operation))
  )
}

type ReadingThrough = {
  readonly signal: AbortSignal
  readonly onRead: (bytes: number) => void
  readonly into?: string
}

/**
 * The digest of a file. With `into`, the file is copied to that path at the same time, and the copy is on the disk when
 * the promise resolves. `onRead` is called with the bytes read so far.
 */
export async function readThrough(path: string, { signal, onRead, into }: ReadingThrough): Promise<FileDigest> {
  const hash = new Bun.CryptoHasher('sha256')
  const piece = Buffer.allocUnsafe(256 * 1024)
  if (into !== undefined) createFile(into)
  const source = openSync(path, 'r')
  let target: number | undefined
  try {
    if (into !== undefined) target = openSync(into, 'w')
    let bytes = 0
    for (;;) {
      const read = readSync(source, piece)
      if (read === 0) break
      const part = piece.subarray(0, read)
      hash.update(part)
      if (target !== undefined) for (let at = 0; at < read; ) at += writeSync(target, part, at)
      bytes += read
      onRead(bytes)
      // Without this turn, no abort would be noticed before the end.
      await yieldEventLoop()
      signal.throwIfAborted()
    }
    if (target !== undefined) fsyncSync(target)
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    closeSync(source)
    if (target !== undefined) closeSync(target)
  }
}

/** Path of the manifest of a copy. */
export const manifestPath = (file: string): string => `${file}.manifest.json`

/** The manifest of a store: its chain, and the digests at its published height and of its API keys. */
export async function describeStore(
  store: Pick<Store, 'name' | 'audit' | 'identity' | 'partitions'> & { readonly keys: Pick<KeyStore, 'list'> },
  how: DigestOptions,
): Promise<StoreManifest> {
  const audit = await store.audit()
  try {
    const identity = await store.identity()
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
    const described = await describeStore(copy, how)
    const of = statSync(partial).size
    const digest = await readThrough(partial, {
      signal: how.signal,
      onRead: bytes => how.onProgress({ stage: 'MB of the file', done: toMegabytes(bytes), of: toMegabytes(of) }),
    })
    const manifest = { ...described, file: digest }
    const path = manifestPath(file)
    const unfinished = `${path}.partial`
    // The manifest is whole or absent, and nothing is left of one that could not be written.
    try {
      createFile(unfinished)
      writeFileSync(unfinished, manifestText(manifest))
      sync(unfinished)
      renameSync(unfinished, path)
    } finally {
      rmSync(unfinished, { force: true })
    }
    return manifest
  } finally {
    await copy.close()
  }
}

export const toMegabytes = (bytes: number): number => Math.round(bytes / 1e6)

const formatDigestKey = ({ index, partition }: Pick<Digest, 'index' | 'partition'>): string =>
  `${index} ${partition ?? ''}`

/** Adds to digests the number of the last operation of each index. */
export function withOperations(digests: readonly Digest[], written: readonly WritePosition[]): readonly Digest[] {
  const operations = new Map(written.map(each => [formatDigestKey(each), each.operation]))
  return digests.map(digest => {
    const operation = operations.get(formatDigestKey(digest))
    return operation === undefined ? digest : { ...digest, operation }
  })
}

/** Whether two readings of a store, one after the other, show that nothing was written in between. */
export function isUntouched(before: readonly WritePosition[], after: readonly WritePosition[]): boolean {
  const operations = new Map(after.map(each => [formatDigestKey(each), each.operation]))
  return (
    before.length === after.length && before.every(each => operations.get(formatDigestKey(each)) === each.operation)
  )
}

/** Whether each index still has the last operation and the number of documents recorded with its digest. */
export function isAsDigested(digests: readonly Digest[], written: readonly WritePosition[]): boolean {
  const described = digests.filter(({ index }) => index !== STARTS && index !== KEYS)
  const found = new Map(written.map(each => [formatDigestKey(each), each]))
  return (
    described.length === written.length &&
    described.every(digest => {
      const { operation, documents } = found.get(formatDigestKey(digest)) ?? {}
      return operation !== undefined && operation === digest.operation && documents === digest.documents
    })
  )
}

/**
 * Takes a snapshot that contains a manifest. The store is locked meanwhile, because a snapshot does not
 * capture all indices at one moment, so no loader may write. After a kill at any moment, the store is as
 * before. The next run then continues with the snapshot if the store has not changed since, and otherwise
 * throws 'usage' because the name is taken. Throws 'unavailable' when another process wrote meanwhile.
 */
export async function backupSnapshot(
  store: Store & { readonly snapshots: Snapshots },
  snapshot: SnapshotName,
  how: DigestOptions,
): Promise<StoreManifest> {
  const identity = await store.identity()
  if (identity === undefined) throw nothingLoaded(store.name)
  const { name, snapshots } = store
  const writer = await store.takeOver(identity)
  try {
    const written = await snapshots.writePositions()
    const described = await describeStore(store, how)
    if (described.hash !== writer.checkpoint?.hash)
      throw new Failure('unavailable', `${name} got new blocks while its digests were computed.`)
    const manifest = { ...described, digests: withOperations(described.digests, written) }
    await snapshots.keep(manifestText(manifest))
    await snapshots.take(snapshot, { signal: how.signal, onProgress: reportInMegabytes(how) })
    // A process that was suspended until its lease expired may have let a loader in.
    if (!isUntouched(written, await snapshots.writePositions())) throw touched(name, snapshot)
    // Keys may change at any time, and those in the snapshot must match its manifest.
    const keys = await computeKeysDigest(store.keys)
    if (keys.sum !== findKeysDigest(described.digests)?.sum) throw touched(name, snapshot)
    return manifest
  } finally {
    await writer.release()
  }
}

const touched = (name: string, { repository, name: taken }: SnapshotName): Failure =>
  new Failure('unavailable', `${name} was written to while the snapshot ${taken} was taken.`, {
    help: `Delete the snapshot (DELETE /_snapshot/${repository}/${taken}), stop whatever loads or changes API keys, and take it again.`,
    retryable: false,
  })

/** Reports the server's progress with a snapshot in megabytes. */
export const reportInMegabytes =
  ({ onProgress }: DigestOptions) =>
  ({ done, of }: { readonly done: number; readonly of: number }): void =>
    onProgress({ stage: 'MB of the snapshot', done: toMegabytes(done), of: toMegabytes(of) })
