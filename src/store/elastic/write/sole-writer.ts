import { Failure } from '#failure/failure.ts'
import type { Bounds } from '#store/batch.ts'
import type { Store, Writer } from '#store/port.ts'
import type { OpenStateFile } from '#store/state-port.ts'
import { within } from '#time/deadline.ts'
import type { Reading } from '../read/open-reading.ts'
import { requireIndices } from '../schema/check-indices.ts'
import { readCheckpoint } from '../schema/checkpoint.ts'
import { at, type Cluster } from '../schema/cluster.ts'
import { createIndices, refuseLost } from '../schema/create-indices.ts'
import { requireEmptyStore } from '../schema/require-empty.ts'
import { onceStarted, waitForShards } from '../schema/wait-for-shards.ts'
import { openWriter } from './writer.ts'

/**
 * Time that writes under way get to end when the store is closed, milliseconds; every write may be
 * interrupted anywhere.
 */
const CLOSE_MS = 2_000

type Options = {
  /** `WriterPartitions.documents` */
  readonly partitionDocuments: number
  /** Amount of history that is written ahead of its batch at once. */
  readonly chunk: Bounds
  readonly openStateFile: OpenStateFile
  /** Informed of each change, so that readers of the same process see it at once. */
  readonly reading: Reading
}

/** The only writer of this process in a store. */
export const soleWriter = (cluster: Cluster, { partitionDocuments, chunk, openStateFile, reading }: Options) => {
  const { names } = cluster
  let isTaken = false
  let writer: Writer | undefined
  const onRelease = (): void => {
    isTaken = false
    writer = undefined
  }
  const takeOver: Store['takeOver'] = async (identity, { repair = false } = {}) => {
    if (isTaken)
      throw new Failure('conflict', `Another loader of this process is writing to ${names.prefix}.`, {
        retryable: true,
      })
    isTaken = true
    try {
      const served = await writable(cluster, repair)
      const options = { cluster: served, identity, partitionDocuments, chunk, repair, openStateFile, onRelease }
      const opened = await openWriter(options)
      if (repair) reading.beginRepair()
      writer = tellingWriter(opened, () => {
        reading.expire()
        if (repair) reading.checkAgain()
      })
      return writer
    } catch (error) {
      onRelease()
      throw error
    }
  }
  return {
    takeOver,
    /** If Elasticsearch is unreachable, the lease expires by itself. */
    release: async (): Promise<void> => {
      if (writer !== undefined) await within(writer.release(), { ms: CLOSE_MS }).catch(() => undefined)
    },
  }
}

/** The served generation, once all its indices exist and answer; a repair also creates the lost ones. */
const writable = async (cluster: Cluster, repair: boolean): Promise<Cluster> => {
  const stored = await readCheckpoint(cluster)
  if (stored === undefined) await onceStarted(() => requireEmptyStore(cluster), cluster.clock)
  if (repair) await createIndices(cluster, { repair })
  else await refuseLost(cluster)
  await requireIndices(cluster)
  const served = at(cluster, stored?.checkpoint.generations)
  await waitForShards(served)
  return served
}

/** The writer with a call of `onChange` after each change, so that readers of the same process see it at once. */
const tellingWriter = (writer: Writer, onChange: () => void): Writer => ({
  ...writer,
  get checkpoint() {
    return writer.checkpoint
  },
  get floor() {
    return writer.floor
  },
  get unfinished() {
    return writer.unfinished
  },
  commit: end => writer.commit(end).finally(onChange),
  accept: () => writer.accept?.().finally(onChange) ?? Promise.resolve(),
  rewrite: rewrite => writer.rewrite(rewrite).finally(onChange),
  takeBack: height => writer.takeBack(height).finally(onChange),
  settle: settled => writer.settle(settled).finally(onChange),
})
