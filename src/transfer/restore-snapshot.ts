import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { SnapshotName, Snapshots } from '#store/snapshots-port.ts'
import { describedStore } from './backup-file.ts'
import { inMegabytes } from './backup-snapshot.ts'
import type { DigestOptions } from './digest.ts'
import { readManifest, type StoreManifest } from './manifest.ts'
import { requireOnChain } from './require-on-chain.ts'
import { requireSame } from './require-same.ts'
import { isAsDigested } from './written.ts'

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
  how: DigestOptions & { readonly node: Node },
): Promise<StoreManifest> {
  const { snapshots, name } = store
  const keys = { list: () => snapshots.keys() }
  const isRestored = await snapshots.restore(snapshot, {
    signal: how.signal,
    onProgress: inMegabytes(how, 'snapshot'),
  })
  const manifest = await requireSnapshotManifest(store)
  await requireOnChain(how.node, manifest, how.signal)
  const { chainId, genesis, derivation } = manifest
  const writer = await store.takeOver({ chainId, genesis, derivation }, { repair: true })
  try {
    // The server verifies each file of a snapshot by its checksum. Documents are read when there were writes
    // after the digests, or when an earlier run restored the indices and they may have changed since.
    const { height, hash } = writer.checkpoint ?? {}
    const isDescribed = isRestored && height === manifest.height && hash === manifest.hash
    if (!isDescribed || !isAsDigested(manifest.digests, await snapshots.writePositions()))
      requireSame(name, await describedStore({ ...store, keys }, how), manifest)
    await writer.accept?.()
    return manifest
  } finally {
    await writer.release()
  }
}

async function requireSnapshotManifest({
  name,
  snapshots,
}: Pick<Store, 'name'> & { readonly snapshots: Snapshots }): Promise<StoreManifest> {
  const text = await snapshots.kept()
  const help = "Take snapshots with 'iostlens backup'. This one has to be audited: 'iostlens repair --node URL'."
  if (text === undefined) throw new Failure('damaged', `${name} has no manifest.`, { help })
  const { manifest, isSealed } = readManifest(text, `The manifest in ${name}`)
  if (!isSealed) throw new Failure('damaged', `The manifest in ${name} was changed: its seal is wrong.`, { help })
  return manifest
}
