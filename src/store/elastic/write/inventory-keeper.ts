import { Failure } from '#failure/failure.ts'
import { accounts } from '#indices/account.ts'
import { blocks } from '#indices/block.ts'
import { lists } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { transactions } from '#indices/transaction.ts'
import { RUN_REPAIR } from '#store/failures.ts'
import { getMany } from '../client/read-documents.ts'
import {
  type Checkpoint,
  formatRestoreHelp,
  getInventory,
  type Inventory,
  readCheckpoint,
} from '../schema/checkpoint.ts'
import { decodeDoc } from '../schema/documents.ts'
import { countDocuments, countKinds, findNewest, readIndexStates } from '../schema/index-states.ts'
import { findDamage, toLoaderFailure } from '../schema/inventory.ts'
import { type PartitionStarts, type ReadCluster, toStateId } from '../schema/names.ts'
import type { Lease } from './lease.ts'
import { publishEnd, removeUnannounced } from './send-documents.ts'

/** The inventory of the indices at present. Throws 'damaged' if one is missing. */
async function takeInventory(
  cluster: ReadCluster,
  { partitions, batch }: Pick<Checkpoint, 'partitions' | 'batch'>,
): Promise<Inventory> {
  const { connection, names } = cluster
  const counted = [
    ...partitions.flatMap((_, partition) => historyIndices.map(index => names.partition(index, partition))),
    ...names.states,
  ]
  // API keys are not counted because they belong to no batch. Indices under construction have no keys of their own.
  const listed = [...counted, names.behind('meta'), ...(names.building ? [] : [names.behind('keys')])]
  const existing = await readIndexStates(connection, listed)
  const missing = listed.find(name => !existing.has(name))
  if (missing !== undefined)
    throw new Failure('damaged', `There is no index ${missing} at ${connection.url}.`, { help: RUN_REPAIR })
  const counts = await countDocuments(connection, counted, { inCopies: true })
  return {
    batch,
    last: await findNewest(connection, counted),
    indices: Object.fromEntries(
      [...existing].map(([name, { uuid }]) => {
        const documents = counts.get(name)
        return [name, documents === undefined ? [uuid] : [uuid, documents]]
      }),
    ),
  }
}

/**
 * The inventory of a store whose record was written anew, if the store has as many documents as were counted while loading.
 * Throws 'damaged' otherwise: a store that lost data must not count as complete.
 */
async function adoptInventory(cluster: ReadCluster, checkpoint: Checkpoint): Promise<Inventory> {
  const { connection, names } = cluster
  const stock = await takeInventory(cluster, checkpoint)
  const ref = { index: names.state(statistics), id: toStateId(statistics, STATISTICS) }
  const [got] = await getMany(connection, [ref], { realtime: false })
  const counted: Partial<StatisticsDoc> = got === undefined ? {} : decodeDoc(statistics, STATISTICS, got.source)
  const height = checkpoint.end?.height ?? -1
  const counts = new Map([
    ...Object.entries(stock.indices).map(([name, [, documents = 0]]) => [name, documents] as const),
    ...(await countKinds(connection, names.behind('state'))),
  ])
  // The number of documents of an index, if the statistics of the chain contain it.
  const known: readonly (readonly [AnyIndex, number | undefined])[] = [
    [blocks, height + 1],
    [statistics, height < 0 ? 0 : 1],
    [transactions, counted.transaction_count],
    [records, counted.record_count],
    [accounts, counted.account_count],
    [tokens, counted.token_count],
    [lists, counted.list_count],
  ]
  for (const [index, wanted = 0] of known) {
    const parts =
      index.kind === 'state' ? [index.name] : checkpoint.partitions.map((_, at) => names.partition(index, at))
    const found = parts.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0)
    if (found !== wanted)
      throw new Failure(
        'damaged',
        `${index.name} of ${names.prefix} at ${connection.url} has ${found} documents, but ${wanted} were loaded.`,
        { help: "Run: 'iostlens repair'." },
      )
  }
  return stock
}

/** Compares the store with the inventory of its checkpoint, for a loader. */
export class InventoryKeeper {
  private readonly lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>

  constructor(lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>) {
    this.lease = lease
  }

  /**
   * Throws unless the store has everything in the inventory. The last partition may have more, written ahead; any index may
   * have more as long as documents of an abandoned batch are there.
   */
  async require(of: Inventory, partitions: PartitionStarts): Promise<void> {
    const { names } = this.lease.cluster
    const last = historyIndices.map(index => names.partition(index, partitions.length - 1))
    const { floor } = this.lease.checkpoint()
    const mayHoldMore = (index: string) => floor !== undefined || last.includes(index)
    refuseDamage(await this.damages(of, partitions, mayHoldMore))
  }

  /** Checks that all indices exist before another loader's leftovers are overwritten. */
  async begin(): Promise<void> {
    const { partitions } = this.lease.checkpoint()
    const { kept } = this
    const damages = kept === undefined ? [] : await this.damages(kept, partitions, () => true)
    // Documents of a batch that is sent again may be missing.
    refuseDamage(damages.filter(({ problem }) => problem !== 'documents'))
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
    refuseDamage(await this.damages(kept, partitions, () => floor !== undefined))
  }

  /**
   * Accepts the store as it is: a repair has checked every document. History that a dead loader wrote above
   * its last batch belongs to no batch and is removed first. Otherwise the inventory would count it, and the next loader,
   * which removes it, would report a loss.
   */
  async accept(): Promise<void> {
    const { cluster, checkpoint } = this.lease
    await removeUnannounced(this.lease, checkpoint())
    await this.record(await takeInventory(cluster, checkpoint()))
  }

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
      .then(toLoaderFailure)
      .catch(() => undefined)
    if (found !== undefined) return found
    const isGone = (await readCheckpoint(cluster).catch(() => null)) === undefined
    if (!isGone) return failure
    const { connection, names } = cluster
    return new Failure('damaged', `The checkpoint in ${names.meta} at ${connection.url} is gone.`, {
      help: formatRestoreHelp(names),
    })
  }

  private get kept(): Inventory | undefined {
    return getInventory(this.lease.checkpoint())
  }

  private damages(inventory: Inventory, aliasesOf: PartitionStarts, mayHoldMore: (index: string) => boolean) {
    return findDamage(this.lease.cluster, { inventory, aliasesOf, mayHoldMore })
  }

  private async record(inventory: Inventory): Promise<void> {
    await this.lease.set({ inventory })
    const checkpoint = this.lease.checkpoint()
    if (checkpoint.end !== undefined) await publishEnd(this.lease.cluster, { ...checkpoint, end: checkpoint.end })
  }
}

function refuseDamage(damages: Parameters<typeof toLoaderFailure>[0]): void {
  const failure = toLoaderFailure(damages)
  if (failure !== undefined) throw failure
}
