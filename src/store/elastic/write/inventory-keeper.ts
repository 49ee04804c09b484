import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import type { Bulk } from '../client/bulk.ts'
import { type Checkpoint, readCheckpoint, restoreHelp } from '../schema/checkpoint.ts'
import { damageOf, loaderFailure } from '../schema/damage.ts'
import { standingOf } from '../schema/index-stats.ts'
import type { Inventory } from '../schema/inventory.ts'
import type { Names } from '../schema/names.ts'
import { showUnder } from '../schema/open-partition.ts'
import type { Partitions } from '../schema/partitions.ts'
import { adoptStock, takeStock } from './adopt-indices.ts'
import { publish } from './recover.ts'

type Hold = {
  readonly checkpoint: () => Checkpoint
  readonly set: (next: { readonly inventory: Inventory }) => Promise<void>
}

/** Compares the store with the inventory of its checkpoint on a loader's behalf. */
export const stockKeeper = (bulk: Bulk, names: Names, hold: Hold) => {
  const { connection } = bulk
  /** undefined: the store was loaded by a version that kept none. */
  const inventory = (): Inventory | undefined => {
    const { inventory: kept, batch } = hold.checkpoint()
    return kept?.batch === batch ? kept : undefined
  }
  const damagesOf = (of: Inventory, partitions: Partitions, mayHoldMore: (index: string) => boolean) =>
    damageOf({ connection, names, partitions, inventory: of, mayHoldMore, aliases: true })
  const failureOf = async (...how: Parameters<typeof damagesOf>): Promise<Failure | undefined> =>
    loaderFailure(await damagesOf(...how))

  /** Throws unless all is there as an inventory says; in the last partition there may be more, written ahead. */
  const require = async (of: Inventory, partitions: Partitions): Promise<void> => {
    const last = historyIndices.map(index => names.partition(index, partitions.length - 1))
    const failure = await failureOf(of, partitions, index => last.includes(index))
    if (failure !== undefined) throw failure
  }
  const stand = async (of: Inventory): Promise<void> => {
    await hold.set({ inventory: of })
    const checkpoint = hold.checkpoint()
    if (checkpoint.end !== undefined) await publish(bulk, names, { ...checkpoint, end: checkpoint.end })
  }
  return {
    require,
    /** Before anything is written over what another loader left: whether its indices are there at all. */
    begin: async (): Promise<void> => {
      const { partitions } = hold.checkpoint()
      const kept = inventory()
      if (kept === undefined)
        for (const partition of partitions.keys())
          await showUnder(connection, names, partition, index => [names.intoPartition(index, partition)])
      const damages = kept === undefined ? [] : await damagesOf(kept, partitions, () => true)
      // Documents may lack that a journal is to write.
      const failure = loaderFailure(damages.filter(({ problem }) => problem !== 'documents'))
      if (failure !== undefined) throw failure
    },
    /** Nothing is under way: each index has exactly what belongs in it. A store without an inventory gets one. */
    settle: async (): Promise<void> => {
      const checkpoint = hold.checkpoint()
      const kept = inventory()
      if (kept === undefined) return stand(await adoptStock(connection, names, checkpoint))
      const failure = await failureOf(kept, checkpoint.partitions, () => false)
      if (failure !== undefined) throw failure
      const keys = names.behind('keys')
      if (names.building || kept.indices[keys] !== undefined) return
      // Written by a version that did not note it, or by a migration.
      const found = (await standingOf(connection, [keys])).get(keys)
      if (found !== undefined) await stand({ ...kept, indices: { ...kept.indices, [keys]: [found.uuid] } })
    },
    /** What is there now is what belongs there: somebody has looked at every document. */
    accept: async (): Promise<void> => stand(await takeStock(connection, names, hold.checkpoint())),
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
      const found = await failureOf(kept, hold.checkpoint().partitions, () => true).catch(() => undefined)
      return found ?? (await withoutCheckpoint(bulk, names).catch(() => undefined)) ?? failure
    },
  }
}

const withoutCheckpoint = async ({ connection }: Bulk, names: Names): Promise<Failure | undefined> =>
  (await readCheckpoint(connection, names)) === undefined
    ? new Failure('damaged', `The checkpoint in ${names.meta} at ${connection.url} is gone.`, {
        help: restoreHelp(names),
      })
    : undefined
