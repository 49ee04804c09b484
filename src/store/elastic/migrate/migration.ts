import { Failure } from '#failure/failure.ts'
import { DERIVATION, historyIndices, stateIndices } from '#indices/registry.ts'
import type { Migrating } from '#store/migrating-port.ts'
import type { Store } from '#store/port.ts'
import type { ReadPort } from '#store/read-port.ts'
import { ask } from '../client/ask.ts'
import { mappingDifference } from '../schema/check-indices.ts'
import { readCheckpoint } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'
import { deleteIndices } from '../schema/list-indices.ts'
import { HEIGHT, SCHEMA } from '../schema/mappings.ts'
import { type Generations, type Names, namesOf } from '../schema/names.ts'
import { startedCheckpoint } from '../schema/wait-for-shards.ts'
import { wantedIndices } from '../schema/wanted-indices.ts'
import type { Lease } from '../write/keep-lease.ts'
import { copyIndices } from './copy-indices.ts'
import { leaseSource } from './lease-source.ts'
import { allowKeyWrites } from './move-keys.ts'
import { type MigrationState, planMigration } from './plan-migration.ts'
import { CONTROL, swap } from './update-aliases.ts'

type Parts = {
  readonly cluster: Cluster
  readonly source: ReadPort
  /** Opens a store of generations that are being built. */
  readonly open: (building: Generations) => Store
}

/** Builds the next generation beside the served one and puts it in its place. */
export const migratingOf = (parts: Parts): Migrating<Store> => {
  const { cluster, source, open } = parts
  const see = () => planMigration(cluster)
  return {
    source,
    plan: async () => (await see()).plan,
    copying: {
      settle: async () => {
        const seen = await see()
        if (seen.checkpoint.retired === undefined) return
        await whileClosed(cluster, seen, async () => {})
      },
      run: async ({ signal, onProgress }) => {
        const seen = await see()
        await whileClosed(cluster, seen, lease => copyIndices(lease, seen, { signal, onProgress }))
      },
    },
    beside: async () => {
      const seen = await see()
      const names = wholeTarget(seen)
      await removeUnusable({ ...cluster, names }, seen)
      return open(names.generations)
    },
    swap: async catchUp => {
      const seen = await see()
      const target = wholeTarget(seen)
      await whileClosed(cluster, seen, async lease => {
        const height = lease.checkpoint().end?.height ?? -1
        await catchUp(height)
        const partitions = await requireWhole({ ...cluster, names: target }, height)
        const changed = new Set([...DOCUMENTS, ...(seen.changed.has('keys') ? ['keys'] : [])])
        const confirm = async (): Promise<void> => {}
        const names = seen.changed.has('keys')
          ? namesOf(target.prefix, { ...target.generations, keys: seen.next })
          : target
        await swap(lease, { ...lease.cluster, names }, { partitions, changed, confirm })
      })
    },
    removeLeftovers: async () => {
      const { leftovers } = (await see()).plan
      await deleteIndices(cluster.connection, leftovers)
      return leftovers
    },
  }
}

const DOCUMENTS = [...historyIndices, ...stateIndices].map(({ name }) => name)

/** New indices for all documents; API keys stay where they are. */
const wholeTarget = ({ names, next }: MigrationState): Names => {
  const { keys = 0 } = names.generations
  const all = [...DOCUMENTS, ...CONTROL].map(of => [of, next] as const)
  return namesOf(names.prefix, { ...Object.fromEntries(all), ...(keys === 0 ? {} : { keys }) })
}

/** Runs `work` while no other process can write the served store. */
const whileClosed = async (
  cluster: Cluster,
  { checkpoint, names }: MigrationState,
  work: (lease: Lease) => Promise<void>,
): Promise<void> => {
  const lease = await leaseSource({ ...cluster, names }, checkpoint)
  try {
    await allowKeyWrites(lease.cluster)
    await work(lease)
  } finally {
    // A store that was replaced has no lease to release.
    if (lease.checkpoint().retired === undefined) await lease.release().catch(() => {})
    else lease.stop()
  }
}

/** Deletes indices of the next generation unless a migration of this version for this chain began them. */
const removeUnusable = async (
  target: Cluster,
  { checkpoint, existing, next }: MigrationState,
): Promise<void> => {
  const { connection, names } = target
  const there = existing.filter(({ generation, of }) => generation === next && of !== 'keys')
  const begun = there.some(({ of }) => of === 'meta')
    ? (await startedCheckpoint(target))?.checkpoint
    : undefined
  const shapes = new Map(wantedIndices(names).map(({ of, shape }) => [of, shape]))
  const usable =
    begun !== undefined &&
    begun.schema === SCHEMA &&
    begun.chainId === checkpoint.chainId &&
    begun.genesis === checkpoint.genesis &&
    begun.derivation === DERIVATION &&
    Bun.deepEquals(begun.generations, names.generations) &&
    there.every(({ of, mapping }) => {
      const shape = shapes.get(of)
      return shape !== undefined && mappingDifference(mapping, shape.mappings) === undefined
    })
  if (usable) return
  await deleteIndices(
    connection,
    there.map(({ name }) => name),
  )
}

/** Partitions of the new data; throws 'conflict' unless it has at least every block up to `height`. */
const requireWhole = async (target: Cluster, height: number) => {
  const { connection, names } = target
  const built = (await readCheckpoint(target))?.checkpoint
  const end = built?.end?.height ?? -1
  if (built === undefined || end < height)
    throw new Failure(
      'conflict',
      `The new data ends at block ${end}, but the served data ends at block ${height}.`,
    )
  const blocks = historyIndices[0]
  const path = built.partitions.map((_, partition) => names.partition(blocks, partition))
  let counted = 0
  for (const name of path) {
    const { count } = await ask<{ count: number }>(connection, {
      what: `count ${name}`,
      method: 'POST',
      path: `/${name}/_count`,
      body: JSON.stringify({ query: { range: { [HEIGHT]: { lte: end } } } }),
    })
    counted += count
  }
  if (counted !== end + 1)
    throw new Failure(
      'conflict',
      `The new data has ${counted} blocks up to block ${end}; expected ${end + 1}.`,
    )
  return built.partitions
}
