import { Failure } from '#failure/failure.ts'
import { requestJson } from '../client/request-json.ts'
import { readCheckpoint } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { indexStates } from '../schema/index-states.ts'
import type { Existing } from '../schema/list-indices.ts'
import { compareAndSet } from '../write/compare-and-set.ts'
import type { Lease } from '../write/keep-lease.ts'
import type { MigrationState } from './plan-migration.ts'

/**
 * Serves the indices again that the last migration replaced, which are complete up to the height they had then. First the
 * newer checkpoint is closed, so that no loader continues there; then all aliases are swapped at once; then the former
 * checkpoint is opened. May be repeated after a kill at any step. Returns the former height.
 */
export async function rollBack(
  cluster: Cluster,
  seen: MigrationState,
  takeLease: () => Promise<Lease>,
): Promise<number> {
  const served = generationOf(seen.checkpoint)
  const former = await findReplaced(cluster, seen)
  // A migration or a rollback was interrupted right before its end: the older indices are served, and closed.
  const isInterrupted = seen.checkpoint.retired !== undefined && (former?.generation ?? served) >= served
  if (!isInterrupted) {
    if (former === undefined || former.generation > served) throw nothingReplaced(cluster)
    await swapBack(cluster, { seen, former, takeLease })
  }
  return await openServed(cluster)
}

type Replaced = Pick<Existing, 'generation'> & { readonly checkpoint: Checkpoint }

const generationOf = ({ generations }: Checkpoint): number => generations?.['meta'] ?? 0

/** The generation of indices that the served one has replaced; undefined: it has been deleted, or there was none. */
async function findReplaced(cluster: Cluster, { checkpoint, existing }: MigrationState): Promise<Replaced | undefined> {
  const served = generationOf(checkpoint)
  for (const { of, generation, name } of existing) {
    if (of !== 'meta' || generation === served) continue
    const found = await readCheckpoint({ ...cluster, names: { ...cluster.names, meta: name } })
    if (found?.checkpoint.retired === served) return { generation, checkpoint: found.checkpoint }
  }
  return undefined
}

type Parts = {
  readonly seen: MigrationState
  readonly former: Replaced
  readonly takeLease: () => Promise<Lease>
}

async function swapBack(cluster: Cluster, { seen, former, takeLease }: Parts): Promise<void> {
  const { prefix, served } = cluster.names
  const indices = await requireWhole(cluster, seen.existing, former.checkpoint)
  const lease = await takeLease()
  try {
    await lease.set({ retired: former.generation })
    const replaced = seen.existing.filter(({ of, aliases }) => of !== 'keys' && aliases.includes(served(of)))
    const actions = [
      ...replaced.map(({ of, name }) => ({ remove: { index: name, alias: served(of), must_exist: false } })),
      ...indices.map(({ of, name, generation }) => ({
        // The first generation is written under the served aliases, a later one under its own.
        add: { index: name, alias: served(of), ...(generation === 0 ? {} : { is_write_index: false }) },
      })),
    ]
    await requestJson(cluster.connection, {
      what: `swap the aliases of ${prefix} back`,
      method: 'POST',
      path: '/_aliases',
      body: JSON.stringify({ actions }),
      timeoutMs: cluster.writeTimeoutMs,
    })
  } finally {
    lease.stop()
  }
}

/** The former indices. Throws 'conflict' unless all are there as they were, and the API keys still fit them. */
async function requireWhole(
  { connection, names }: Cluster,
  existing: readonly Existing[],
  { inventory }: Checkpoint,
): Promise<readonly Existing[]> {
  const holdings = Object.entries(inventory?.indices ?? {})
  const states = await indexStates(
    connection,
    holdings.map(([name]) => name),
  )
  const [lost] = holdings.find(([name, [uuid]]) => states.get(name)?.uuid !== uuid) ?? []
  if (inventory === undefined || lost !== undefined)
    throw new Failure(
      'conflict',
      `The replaced indices of ${names.prefix} are not whole: ${lost ?? 'no list'} is missing.`,
      {
        help: 'Use the present indices, or restore a snapshot.',
      },
    )
  const former = existing.filter(({ name }) => inventory.indices[name] !== undefined)
  const keys = former.find(({ of }) => of === 'keys')
  if (keys !== undefined && !keys.aliases.includes(names.keys))
    throw new Failure(
      'conflict',
      `The API keys of ${names.prefix} were moved out of ${keys.name}, which is of another version.`,
      {
        help: 'Use the present indices, or restore a snapshot.',
      },
    )
  return former.filter(({ of }) => of !== 'keys')
}

/** Lets loaders continue with the served indices; returns their height. */
async function openServed(cluster: Cluster): Promise<number> {
  for (;;) {
    const stored = await readCheckpoint(cluster)
    if (stored === undefined) throw nothingReplaced(cluster)
    const { write: _, retired, ...checkpoint } = stored.checkpoint
    const height = checkpoint.end?.height ?? -1
    if (retired === undefined) return height
    if ((await compareAndSet(cluster, { ...checkpoint, owner: '' }, stored)) !== undefined) return height
  }
}

function nothingReplaced({ connection: { url }, names }: Cluster): Failure {
  return new Failure('conflict', `There are no replaced indices of ${names.prefix} at ${url} to return to.`, {
    help: "They are kept after 'iostlens indices migrate' until '--delete-old' deletes them.",
  })
}
