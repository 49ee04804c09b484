import { Failure } from '#failure/failure.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Store } from '#store/port.ts'
import type { Named, Snapshots } from '#store/snapshots-port.ts'
import { describedStore, megabytes } from './backup-file.ts'
import type { Digesting } from './digest.ts'
import { type Manifest, manifestText } from './manifest.ts'

/**
 * Takes a snapshot with a manifest in it. The store is taken over meanwhile: a snapshot does not take all indices at one
 * moment, so no loader may write. Killed at any moment, the store is as before; the next run goes on with the snapshot if
 * the store has not moved since, and otherwise throws 'usage': the name is taken.
 */
export const backupSnapshot = async (
  store: Store & { readonly snapshots: Snapshots },
  snapshot: Named,
  how: Digesting,
): Promise<Manifest> => {
  const identity = await store.identity()
  if (identity === undefined) throw nothingLoaded(store.name)
  const writer = await store.takeOver(identity)
  try {
    const manifest = await describedStore(store, how)
    if (manifest.hash !== writer.checkpoint?.hash)
      throw new Failure('unavailable', `${store.name} was loaded on while it was described.`)
    await store.snapshots.keep(manifestText(manifest))
    await store.snapshots.take(snapshot, { signal: how.signal, onProgress: inMegabytes(how, 'snapshot') })
    return manifest
  } finally {
    await writer.release()
  }
}

/** Tells how far a server is with bytes. */
export const inMegabytes =
  ({ onProgress }: Digesting, what: string) =>
  ({ done, of }: { readonly done: number; readonly of: number }): void =>
    onProgress({ stage: `MB of the ${what}`, done: megabytes(done), of: megabytes(of) })
