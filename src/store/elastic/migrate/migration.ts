import { Failure } from '#failure/failure.ts'
import { DERIVATION, historyIndices } from '#indices/registry.ts'
import { unfinishedRepair } from '#store/failures.ts'
import type { MigrationPort, ReadPort, Store } from '#store/port.ts'
import type { OpenStateFile } from '#store/state-port.ts'
import { describeDifference, readStartedCheckpoint } from '../schema/check-indices.ts'
import type { Checkpoint } from '../schema/checkpoint.ts'
import { readCheckpoint, readPublished } from '../schema/checkpoint.ts'
import { countEarlierDocuments, deleteIndices } from '../schema/index-states.ts'
import { listWantedIndices, SCHEMA } from '../schema/mappings.ts'
import type { Cluster } from '../schema/names.ts'
import { createNames, type Generations, type Names, STATE_INDICES } from '../schema/names.ts'
import { acquireLease, keepLease, type Lease } from '../write/lease.ts'
import { addFormerContracts, type MigrationState, planMigration } from './plan-migration.ts'
import { allowKeyWrites, rollBack, swapAliases } from './swap-generations.ts'

type MigrationParts = {
  readonly cluster: Cluster
  readonly source: ReadPort
  /** Opens a store of generations that are being built. */
  readonly open: (building: Generations) => Store
  /** The state file of the loader of these generations. */
  readonly openBuildingState: OpenStateFile
}

/** Builds the next generation beside the served one and replaces the served one by it. */
export function openMigration(parts: MigrationParts): MigrationPort<Store> {
  const { cluster, source, open, openBuildingState } = parts
  const see = () => planMigration(cluster)
  return {
    source: addFormerContracts(cluster, source),
    plan: async () => (await see()).plan,
    reopen: async () => {
      const seen = await see()
      if (seen.checkpoint.retired !== undefined) await (await takeLease(cluster, seen)).release()
    },
    beside: async () => {
      const seen = await see()
      const names = nameTarget(seen)
      await removeUnusable({ ...cluster, names }, seen)
      return open(names.generations)
    },
    swap: async catchUp => {
      const seen = await see()
      const target = nameTarget(seen)
      const lease = await takeLease(cluster, seen)
      try {
        // Blocks that a dead loader wrote and did not publish are left to the next loader.
        const height = (await readPublished(lease.cluster))?.end.height ?? -1
        await catchUp(height)
        const partitions = await requireWhole({ ...cluster, names: target }, height)
        await swapAliases(lease, { ...lease.cluster, names: target }, { partitions, moveKeys: seen.keysDiffer })
        // The next loader of the store fills its own file.
        openBuildingState().remove()
      } finally {
        // A store that was replaced has no lease to release.
        if (lease.checkpoint().retired === undefined) await lease.release().catch(() => {})
        else lease.stop()
      }
    },
    rollBack: async () => {
      const seen = await see()
      return await rollBack(cluster, seen, () => takeLease(cluster, seen))
    },
    removeLeftovers: async () => {
      const { leftovers } = (await see()).plan
      await deleteIndices(cluster.connection, leftovers)
      return leftovers
    },
  }
}

/**
 * New indices for all documents; API keys stay in their index unless its mapping differs. The new checkpoint contains
 * the generation of the keys from the start, so that the next loader knows which index of keys is served.
 */
function nameTarget({ names, next, ...seen }: MigrationState): Names {
  const keys = seen.keysDiffer ? next : seen.keys
  const documents = [...historyIndices.map(({ name }) => name), ...STATE_INDICES]
  const all = [...documents, 'meta'].map(of => [of, next] as const)
  return createNames(names.prefix, { ...Object.fromEntries(all), ...(keys === 0 ? {} : { keys }) })
}

/**
 * Takes the lease of the served store like a loader, whatever the store's version. From now on no other process writes it.
 * A batch that a dead loader had begun stays as it is, for a rollback. Throws 'conflict' while a loader is alive. If an
 * interrupted migration had closed the store right before its end, the store is reopened.
 */
async function takeLease(cluster: Cluster, { checkpoint, names }: MigrationState): Promise<Lease> {
  const lease = keepLease({ ...cluster, names }, await acquireLease({ ...cluster, names }, checkpoint, requireSame))
  try {
    if (lease.checkpoint().retired !== undefined) await lease.set({ retired: undefined })
    await allowKeyWrites(lease.cluster)
  } catch (error) {
    await lease.release().catch(() => {})
    throw error
  }
  return lease
}

function requireSame({ connection: { url }, names }: Cluster, { generations, mending }: Checkpoint): void {
  if (mending) throw unfinishedRepair(`${url}/${names.prefix}`)
  if (Bun.deepEquals(generations ?? {}, names.generations)) return
  throw new Failure('conflict', `Another migration of ${names.prefix} has just finished.`)
}

/** Deletes indices of the next generation unless a migration of this version for this chain began them. */
async function removeUnusable(target: Cluster, { checkpoint, existing, next }: MigrationState): Promise<void> {
  const { connection, names } = target
  const there = existing.filter(({ generation, of }) => generation === next && of !== 'keys')
  const begun = there.some(({ of }) => of === 'meta') ? (await readStartedCheckpoint(target))?.checkpoint : undefined
  const shapes = new Map(listWantedIndices(names).map(({ of, shape }) => [of, shape]))
  const usable =
    begun !== undefined &&
    begun.retired === undefined &&
    begun.schema === SCHEMA &&
    begun.chainId === checkpoint.chainId &&
    begun.genesis === checkpoint.genesis &&
    begun.derivation === DERIVATION &&
    Bun.deepEquals(begun.generations, names.generations) &&
    there.every(({ of, mapping }) => {
      const shape = shapes.get(of)
      return shape !== undefined && describeDifference(mapping, shape.mappings) === undefined
    })
  if (usable) return
  await deleteIndices(
    connection,
    there.map(({ name }) => name),
  )
}

/** Partitions of the new data; throws 'conflict' unless it has every block up to `height`. */
async function requireWhole(target: Cluster, height: number) {
  const { connection, names } = target
  const built = (await readCheckpoint(target))?.checkpoint
  const end = built?.end?.height ?? -1
  if (built === undefined || end < height)
    throw new Failure('conflict', `The new data ends at block ${end}, but the served data ends at block ${height}.`)
  const blocks = historyIndices[0]
  const path = built.partitions.map((_, partition) => names.partition(blocks, partition))
  const counted = await countEarlierDocuments(connection, path, end)
  if (counted !== end + 1)
    throw new Failure('conflict', `The new data has ${counted} blocks up to block ${end}; expected ${end + 1}.`)
  return built.partitions
}
