import { type Change, type StateIndex, stateIndices } from '#indices/registry.ts'
import { missingData } from '#store/missing-data.ts'
import type { Batch } from '#store/port.ts'
import type { OpenStateFile, StateFile } from '#store/state-port.ts'
import { openAudit } from '../read/audit.ts'
import { stampOf } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import type { Lease } from './keep-lease.ts'

/** The state of a store in a file of its loader. */
export type StateHome = {
  /** Opens the file and brings it up to the last batch. */
  open(): Promise<StateFile>
  /** Adds a committed batch to the file, if it is open. */
  put(batch: Pick<Batch, 'changes' | 'end'>): Promise<void>
  close(): void
}

export function keepStateHome(lease: Lease, openFile: OpenStateFile): StateHome {
  let file: StateFile | undefined
  return {
    open: async () => {
      file ??= openFile()
      await bringStateHome(lease, file)
      return file
    },
    put: async ({ changes, end }) => {
      const { lift, state: store } = lease.checkpoint()
      if (store !== undefined) await file?.put(changes, { store, stamp: stampOf({ end, lift }) })
    },
    close: () => file?.close(),
  }
}

/**
 * Makes the loader's file contain the state of the last batch, which must be published. A file of this store gets the
 * documents that changed since its own stamp: state documents are never deleted, and each has the stamp of the batch that
 * wrote it. Any other file is filled anew.
 */
async function bringStateHome(lease: Lease, file: StateFile): Promise<void> {
  const checkpoint = lease.checkpoint()
  const { end, state: store = crypto.randomUUID() } = checkpoint
  if (checkpoint.state === undefined) await lease.set({ state: store })
  // Without a mark, a file may be filled in part.
  if (end === undefined) return await file.clear()
  const stamp = stampOf({ end, lift: checkpoint.lift })
  const { mark } = file
  const isOfStore = mark?.store === store && mark.stamp <= stamp
  if (!isOfStore) await file.clear()
  else if (mark.stamp === stamp) return
  await copyState(lease.cluster, file, isOfStore ? mark.stamp : undefined)
  await file.put([], { store, stamp })
}

/** Copies the documents with a stamp above `after`; undefined: all. */
async function copyState(cluster: Cluster, file: StateFile, after: number | undefined): Promise<void> {
  const audit = await openAudit(cluster, stateIndices)
  try {
    for (const index of stateIndices)
      for await (const page of audit.scan(index, after))
        await file.put(page.map(found => requireReadable(index, found)))
  } finally {
    await audit.close()
  }
}

type Found = { readonly id: string; readonly doc: object | undefined }

function requireReadable(index: StateIndex, { id, doc }: Found): Pick<Change, 'index' | 'doc'> {
  if (doc === undefined) throw missingData(`The document '${id}' of ${index.name} cannot be read.`)
  return { index, doc } as Pick<Change, 'index' | 'doc'>
}
