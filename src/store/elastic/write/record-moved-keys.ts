import { Failure } from '#failure/failure.ts'
import { requestJson } from '../client/request-json.ts'
import { at, type Cluster } from '../schema/cluster.ts'
import { indexStates } from '../schema/index-states.ts'
import { movedKeys } from '../schema/moved-keys.ts'
import { compareAndSet, type StoredCheckpoint } from './compare-and-set.ts'

/**
 * Records in a checkpoint, whose lease was just acquired, the index to which a migration of an earlier
 * version moved the API keys. The next inventory names that index.
 */
export const recordMovedKeys = async <C extends Cluster>(
  cluster: C,
  held: StoredCheckpoint,
): Promise<{ readonly cluster: C; readonly held: StoredCheckpoint }> => {
  const { connection, names } = cluster
  if (names.building) return { cluster, held }
  const before = names.behind('keys')
  const states = await indexStates(connection, [names.keys])
  const keys = movedKeys(names, states)
  if (keys === undefined) return { cluster, held }
  if (states.has(before)) await removeAlias(cluster, before)
  const generations = { ...names.generations, keys }
  const { write: _, inventory, ...checkpoint } = held.checkpoint
  const { [before]: _before, ...indices } = inventory?.indices ?? {}
  const next = {
    ...checkpoint,
    generations,
    ...(inventory === undefined ? {} : { inventory: { ...inventory, indices } }),
  }
  const recorded = await compareAndSet(cluster, next, held)
  if (recorded === undefined)
    throw new Failure('conflict', `Another loader has taken over ${names.prefix}.`, { retryable: true })
  return { cluster: at(cluster, generations), held: recorded }
}

/** Removes the alias of the index that keys were moved from: it still contains keys that were revoked since. */
const removeAlias = async ({ connection, names }: Cluster, index: string): Promise<void> => {
  await requestJson(connection, {
    what: `take ${index} from behind ${names.keys}`,
    method: 'POST',
    path: '/_aliases',
    body: JSON.stringify({ actions: [{ remove: { index, alias: names.keys } }] }),
  })
}
