import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import { readCheckpoint, restoreHelp } from '../schema/checkpoint.ts'
import type { Inventory } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { damageOf, loaderFailure } from '../schema/damage.ts'
import { indexStates } from '../schema/index-states.ts'
import type { Partitions } from '../schema/partitions.ts'
import type { Lease } from './keep-lease.ts'
import { publish } from './publish.ts'
import { removeHistoryAbove } from './remove-leftovers.ts'
import { adoptInventory, takeInventory } from './take-inventory.ts'

/** Compares the store with the inventory of its checkpoint, for a loader. */
export class InventoryKeeper {
  private readonly lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>

  constructor(lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>) {
    this.lease = lease
  }

  /** Throws unless the store has everything in the inventory; the last partition may have more, written ahead. */
  async require(of: Inventory, partitions: Partitions): Promise<void> {
    const { names } = this.lease.cluster
    const last = historyIndices.map(index => names.partition(index, partitions.length - 1))
    const { floor } = this.lease.checkpoint()
    const mayHoldMore = (index: string) => floor !== undefined || last.includes(index)
    const failure = loaderFailure(await this.damages(of, partitions, mayHoldMore))
    if (failure !== undefined) throw failure
  }

  /** Checks that all indices exist before another loader's leftovers are overwritten. */
  async begin(): Promise<void> {
    const { partitions } = this.lease.checkpoint()
    const { kept } = this
    const damages = kept === undefined ? [] : await this.damages(kept, partitions, () => true)
    // Documents of a batch that is sent again may be missing.
    const failure = loaderFailure(damages.filter(({ problem }) => problem !== 'documents'))
    if (failure !== undefined) throw failure
  }

  /**
   * Checks, while no write is under way, that each index has exactly its documents. A store that was just created, or whose
   * record a repair wrote anew, gets an inventory.
   */
  async settle(): Promise<void> {
    const { partitions, floor } = this.lease.checkpoint()
    const { kept } = this
    if (kept === undefined) return this.record(await adoptInventory(this.lease.cluster, this.lease.checkpoint()))
    // An abandoned batch has left documents that the next one overwrites.
    const failure = loaderFailure(await this.damages(kept, partitions, () => floor !== undefined))
    if (failure !== undefined) throw failure
    const keys = await this.newKeys(kept)
    if (keys !== undefined) await this.record({ ...kept, indices: { ...kept.indices, ...keys } })
  }

  /**
   * Accepts the store as it is: a repair has checked every document. History that a dead loader wrote above
   * its last batch belongs to no batch and is removed first; otherwise the next loader would miss it.
   */
  async accept(): Promise<void> {
    const { cluster, checkpoint } = this.lease
    await removeHistoryAbove(cluster, checkpoint())
    await this.record(await takeInventory(cluster, checkpoint()))
  }

  /** The inventory as of the last committed batch. */
  inventory(): Inventory {
    const { kept } = this
    if (kept !== undefined) return kept
    const { prefix } = this.lease.cluster.names
    throw new Failure('defect', `${prefix} was taken over without an inventory.`)
  }

  /** The failure, or the damage of the store that caused it. */
  async reasonFor(failure: unknown): Promise<unknown> {
    if (!(failure instanceof Failure) || failure.kind === 'damaged') return failure
    const { kept } = this
    if (kept === undefined) return failure
    const { cluster, checkpoint } = this.lease
    const found = await this.damages(kept, checkpoint().partitions, () => true)
      .then(loaderFailure)
      .catch(() => undefined)
    return found ?? (await withoutCheckpoint(cluster).catch(() => undefined)) ?? failure
  }

  /** undefined: the store was just created, or its checkpoint written anew by a repair. */
  private get kept(): Inventory | undefined {
    const { inventory, batch } = this.lease.checkpoint()
    return inventory?.batch === batch ? inventory : undefined
  }

  /** The index of keys, if the inventory lacks it: a migration of an earlier version has moved the keys there. */
  private async newKeys(kept: Inventory): Promise<Inventory['indices'] | undefined> {
    const { connection, names } = this.lease.cluster
    const keys = names.behind('keys')
    if (names.building || kept.indices[keys] !== undefined) return undefined
    const found = (await indexStates(connection, [keys])).get(keys)
    return found && { [keys]: [found.uuid] }
  }

  private damages(inventory: Inventory, partitions: Partitions, mayHoldMore: (index: string) => boolean) {
    return damageOf(this.lease.cluster, { partitions, inventory, mayHoldMore, aliases: true })
  }

  private async record(inventory: Inventory): Promise<void> {
    await this.lease.set({ inventory })
    const checkpoint = this.lease.checkpoint()
    if (checkpoint.end !== undefined) await publish(this.lease.cluster, { ...checkpoint, end: checkpoint.end })
  }
}

const withoutCheckpoint = async (cluster: Cluster): Promise<Failure | undefined> =>
  (await readCheckpoint(cluster)) === undefined
    ? new Failure('damaged', `The checkpoint in ${cluster.names.meta} at ${cluster.connection.url} is gone.`, {
        help: restoreHelp(cluster.names),
      })
    : undefined
