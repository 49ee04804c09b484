import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import { readCheckpoint, restoreHelp } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'
import { showUnder } from '../schema/create-partition.ts'
import { damageOf, loaderFailure } from '../schema/damage.ts'
import { indexStates } from '../schema/index-states.ts'
import type { Inventory } from '../schema/inventory.ts'
import type { Partitions } from '../schema/partitions.ts'
import type { Lease } from './keep-lease.ts'
import { publish } from './recover.ts'
import { adoptInventory, takeInventory } from './take-inventory.ts'

/** Compares the store with the inventory of its checkpoint on a loader's behalf. */
export const inventoryKeeper = (lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>) => {
  const { cluster } = lease
  const { connection, names } = cluster
  /** undefined: the store was loaded by a version that kept none. */
  const inventory = (): Inventory | undefined => {
    const { inventory: kept, batch } = lease.checkpoint()
    return kept?.batch === batch ? kept : undefined
  }
  const damagesOf = (of: Inventory, partitions: Partitions, mayHoldMore: (index: string) => boolean) =>
    damageOf(cluster, { partitions, inventory: of, mayHoldMore, aliases: true })
  const failureOf = async (...how: Parameters<typeof damagesOf>): Promise<Failure | undefined> =>
    loaderFailure(await damagesOf(...how))

  /** Throws unless all is there as an inventory says; in the last partition there may be more, written ahead. */
  const require = async (of: Inventory, partitions: Partitions): Promise<void> => {
    const last = historyIndices.map(index => names.partition(index, partitions.length - 1))
    const failure = await failureOf(of, partitions, index => last.includes(index))
    if (failure !== undefined) throw failure
  }
  const stand = async (of: Inventory): Promise<void> => {
    await lease.set({ inventory: of })
    const checkpoint = lease.checkpoint()
    if (checkpoint.end !== undefined) await publish(cluster, { ...checkpoint, end: checkpoint.end })
  }
  return {
    require,
    /** Before anything is written over what another loader left: whether its indices are there at all. */
    begin: async (): Promise<void> => {
      const { partitions } = lease.checkpoint()
      const kept = inventory()
      if (kept === undefined)
        for (const partition of partitions.keys())
          await showUnder(cluster, partition, index => [names.intoPartition(index, partition)])
      const damages = kept === undefined ? [] : await damagesOf(kept, partitions, () => true)
      // Documents may lack that a journal is to write.
      const failure = loaderFailure(damages.filter(({ problem }) => problem !== 'documents'))
      if (failure !== undefined) throw failure
    },
    /** Nothing is under way: each index has exactly what belongs in it. A store without an inventory gets one. */
    settle: async (): Promise<void> => {
      const checkpoint = lease.checkpoint()
      const kept = inventory()
      if (kept === undefined) return stand(await adoptInventory(cluster, checkpoint))
      const failure = await failureOf(kept, checkpoint.partitions, () => false)
      if (failure !== undefined) throw failure
      const keys = names.behind('keys')
      if (names.building || kept.indices[keys] !== undefined) return
      // Written by a version that did not note it, or by a migration.
      const found = (await indexStates(connection, [keys])).get(keys)
      if (found !== undefined) await stand({ ...kept, indices: { ...kept.indices, [keys]: [found.uuid] } })
    },
    /** What is there now is what belongs there: somebody has looked at every document. */
    accept: async (): Promise<void> => stand(await takeInventory(cluster, lease.checkpoint())),
    /** As of the last committed batch. */
    inventory: (): Inventory => {
      const kept = inventory()
      if (kept === undefined)
        throw new Failure('defect', `${names.prefix} was taken over without an inventory.`)
      return kept
    },
    /** The failure, or what has happened to the store, when that is the reason. */
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
