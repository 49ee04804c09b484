import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import { readCheckpoint, restoreHelp } from '../schema/checkpoint.ts'
import type { Inventory } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { showUnder } from '../schema/create-partition.ts'
import { damageOf, loaderFailure } from '../schema/damage.ts'
import { indexStates, newestDocuments } from '../schema/index-states.ts'
import { countedNames } from '../schema/inventory.ts'
import type { Partitions } from '../schema/partitions.ts'
import type { Lease } from './keep-lease.ts'
import { publish } from './recover.ts'
import { removeHistoryAbove } from './remove-leftovers.ts'
import { adoptInventory, takeInventory } from './take-inventory.ts'

/** Compares the store with the inventory of its checkpoint, for a loader. */
export const inventoryKeeper = (lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>) => {
  const { cluster } = lease
  const { connection, names } = cluster
  /** undefined: the store was loaded by a version without inventories. */
  const inventory = (): Inventory | undefined => {
    const { inventory: kept, batch } = lease.checkpoint()
    return kept?.batch === batch ? kept : undefined
  }
  const damagesOf = (of: Inventory, partitions: Partitions, mayHoldMore: (index: string) => boolean) =>
    damageOf(cluster, { partitions, inventory: of, mayHoldMore, aliases: true })
  const failureOf = async (...how: Parameters<typeof damagesOf>): Promise<Failure | undefined> =>
    loaderFailure(await damagesOf(...how))

  /** Throws unless the store has all that the inventory lists; the last partition may have more, written ahead. */
  const require = async (of: Inventory, partitions: Partitions): Promise<void> => {
    const last = historyIndices.map(index => names.partition(index, partitions.length - 1))
    const failure = await failureOf(of, partitions, index => last.includes(index))
    if (failure !== undefined) throw failure
  }
  const record = async (of: Inventory): Promise<void> => {
    await lease.set({ inventory: of })
    const checkpoint = lease.checkpoint()
    if (checkpoint.end !== undefined) await publish(cluster, { ...checkpoint, end: checkpoint.end })
  }
  /** With what versions before did not record: the last documents, and the index of keys. */
  const completed = async (kept: Inventory, partitions: Partitions): Promise<Inventory> => {
    const keys = names.behind('keys')
    const isWhole = names.building || kept.indices[keys] !== undefined
    if (isWhole && kept.last !== undefined) return kept
    const found = isWhole ? undefined : (await indexStates(connection, [keys])).get(keys)
    const last = kept.last ?? (await newestDocuments(connection, countedNames(names, partitions)))
    return { ...kept, last, indices: { ...kept.indices, ...(found && { [keys]: [found.uuid] }) } }
  }
  return {
    require,
    /** Checks that all indices exist, before anything is written over what another loader left. */
    begin: async (): Promise<void> => {
      const { partitions } = lease.checkpoint()
      const kept = inventory()
      if (kept === undefined)
        for (const partition of partitions.keys())
          await showUnder(cluster, partition, index => [names.intoPartition(index, partition)])
      const damages = kept === undefined ? [] : await damagesOf(kept, partitions, () => true)
      // Documents that the journal is still to write may be missing.
      const failure = loaderFailure(damages.filter(({ problem }) => problem !== 'documents'))
      if (failure !== undefined) throw failure
    },
    /**
     * Checks, while nothing is under way, that each index has exactly its documents. A store without an inventory gets
     * one.
     */
    settle: async (): Promise<void> => {
      const checkpoint = lease.checkpoint()
      const kept = inventory()
      if (kept === undefined) return record(await adoptInventory(cluster, checkpoint))
      const failure = await failureOf(kept, checkpoint.partitions, () => false)
      if (failure !== undefined) throw failure
      const now = await completed(kept, checkpoint.partitions)
      if (now !== kept) await record(now)
    },
    /**
     * Accepts the store as it is: a repair has checked every document. What a loader that ended had written above its last
     * batch belongs to none and goes first, or the next loader would miss it.
     */
    accept: async (): Promise<void> => {
      await removeHistoryAbove(cluster, lease.checkpoint())
      await record(await takeInventory(cluster, lease.checkpoint()))
    },
    /** As of the last committed batch. */
    inventory: (): Inventory => {
      const kept = inventory()
      if (kept === undefined)
        throw new Failure('defect', `${names.prefix} was taken over without an inventory.`)
      return kept
    },
    /** The failure, or the damage of the store that caused it. */
    reasonFor: async (failure: unknown): Promise<unknown> => {
      if (!(failure instanceof Failure) || failure.kind === 'damaged') return failure
      const kept = inventory()
      if (kept === undefined) return failure
      const found = await failureOf(kept, lease.checkpoint().partitions, () => true).catch(() => undefined)
      return found ?? (await withoutCheckpoint(cluster).catch(() => undefined)) ?? failure
    },
  }
}

const withoutCheckpoint = async (cluster: Cluster): Promise<Failure | undefined> =>
  (await readCheckpoint(cluster)) === undefined
    ? new Failure(
        'damaged',
        `The checkpoint in ${cluster.names.meta} at ${cluster.connection.url} is gone.`,
        {
          help: restoreHelp(cluster.names),
        },
      )
    : undefined
