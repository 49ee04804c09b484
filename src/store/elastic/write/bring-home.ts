import { blocks } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import { blockId } from '#indices/position.ts'
import { type StateIndex, stateIndices } from '#indices/registry.ts'
import { missingData } from '#store/missing-data.ts'
import type { StateDocument, StateFile } from '#store/state-port.ts'
import { getMany } from '../client/get-many.ts'
import { openAudit } from '../read/audit.ts'
import { heightAt, stampOf } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { partitionAt } from '../schema/partitions.ts'
import type { Lease } from './keep-lease.ts'

/**
 * Makes the loader's file contain the state of the last batch, which must be published. A file of this store gets the
 * documents that changed since its own stamp: state documents are never deleted, and each has the stamp of the batch that
 * wrote it. Any other file is filled anew.
 */
export async function bringHome(lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>, file: StateFile): Promise<void> {
  const { end, epoch, batch, state: store = crypto.randomUUID() } = lease.checkpoint()
  if (lease.checkpoint().state === undefined) await lease.set({ state: store })
  const { mark } = file
  // Without a mark, a file may be filled in part.
  if (end === undefined) return await file.clear()
  const stamp = stampOf({ end, epoch })
  if (mark?.store === store && mark.batch === batch) return
  const isOfStore =
    mark?.store === store && mark.stamp <= stamp && mark.hash === (await readHash(lease, heightAt(mark.stamp)))
  if (!isOfStore) await file.clear()
  await copyState(lease.cluster, file, isOfStore ? mark.stamp : undefined)
  await file.put([], { store, stamp, hash: end.hash, batch })
}

/** The hash of a stored block. */
async function readHash(
  { cluster: { connection, names }, checkpoint }: Pick<Lease, 'cluster' | 'checkpoint'>,
  height: number,
): Promise<unknown> {
  const index = names.partition(blocks, partitionAt(checkpoint().partitions, height))
  const [block] = await getMany(connection, [{ index, id: blockId(height) }], { realtime: true })
  return block?.source['hash']
}

/** Copies the documents with a stamp above `after`, as they were at the published height; undefined: all. */
async function copyState(cluster: Cluster, file: StateFile, after: number | undefined): Promise<void> {
  const audit = await openAudit(cluster, stateIndices)
  try {
    for await (const page of audit.published(after)) await file.put(page.map(requireDocument))
  } finally {
    await audit.close()
  }
}

type Found = { readonly index: StateIndex; readonly id: string; readonly doc: DocOf<StateIndex> | undefined }

function requireDocument({ index, id, doc }: Found): StateDocument {
  if (doc === undefined) throw missingData(`The document '${id}' of ${index.name} cannot be read.`)
  return { index, doc } as StateDocument
}
