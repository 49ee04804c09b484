import { Failure } from '#failure/failure.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Store } from '#store/port.ts'
import type { SnapshotName, Snapshots } from '#store/snapshots-port.ts'
import { describedStore, megabytes } from './backup-file.ts'
import type { DigestOptions } from './digest.ts'
import { computeKeysDigest, findKeysDigest } from './keys-digest.ts'
import { manifestText, type StoreManifest } from './manifest.ts'
import { isUntouched, withOperations } from './written.ts'

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
    const described = await describedStore(store, how)
    if (described.hash !== writer.checkpoint?.hash)
      throw new Failure('unavailable', `${name} got new blocks while its digests were computed.`)
    const manifest = { ...described, digests: withOperations(described.digests, written) }
    await snapshots.keep(manifestText(manifest))
    await snapshots.take(snapshot, { signal: how.signal, onProgress: inMegabytes(how, 'snapshot') })
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

/** Reports the server's progress in megabytes. */
export const inMegabytes =
  ({ onProgress }: DigestOptions, what: string) =>
  ({ done, of }: { readonly done: number; readonly of: number }): void =>
    onProgress({ stage: `MB of the ${what}`, done: megabytes(done), of: megabytes(of) })
