import type { Failure } from '#failure/failure.ts'
import type { Difference } from '#store/port.ts'
import { type PublishedMeta, readCheckpoint, readPublished } from './checkpoint.ts'
import { at, type ReadCluster } from './cluster.ts'
import { damageOf, readerFailure, stateDamage } from './damage.ts'
import { indexStates } from './index-states.ts'

/** Looks before what is met is believed: a migration that ends meanwhile replaces indices. */
const LOOKS = 3

/** What readers must not answer over; undefined: nothing that was loaded is lost. */
export const lostToReaders = async (
  cluster: ReadCluster,
  look: () => Promise<PublishedMeta | undefined>,
): Promise<Failure | undefined> => {
  let failure: Failure | undefined
  for (let tried = 0; tried < LOOKS; tried++) {
    const seen = await look()
    if (seen?.inventory?.batch !== seen?.batch || seen?.inventory === undefined) return undefined
    const { generations, partitions, inventory } = seen
    const expected = { partitions, inventory, aliases: false, mayHoldMore: () => true }
    failure = readerFailure(await damageOf(at(cluster, generations), expected))
    if (failure === undefined || (await look())?.batch === seen.batch) return failure
  }
  return failure
}

/** Gives what must not be answered by the list of keys; undefined: the index of keys is the one that is known. */
export const lostKeysOf = (
  cluster: ReadCluster,
): ((signal?: AbortSignal) => Promise<Failure | undefined>) => {
  const { connection, names } = cluster
  // What was known once counts also when the published record is gone.
  let known: PublishedMeta | undefined
  return async signal => {
    let failure: Failure | undefined
    for (let tried = 0; tried < LOOKS; tried++) {
      known = (await readPublished(cluster, signal)) ?? known
      const { batch, inventory, generations } = known ?? {}
      const here = at(cluster, generations)
      const name = here.names.behind('keys')
      const uuid = inventory?.indices[name]?.[0]
      if (uuid === undefined || inventory?.batch !== batch) return undefined
      const standing = (await indexStates(connection, [name], signal)).get(name)
      failure = readerFailure(stateDamage(here, { name, uuid, aliases: [names.keys] }, standing))
      if (failure === undefined) return undefined
      const now = await readPublished(cluster, signal)
      if (now === undefined || now.batch === batch) return failure
    }
    return failure
  }
}

/** The same for people, by what the loader knows. */
export const lostOf = async (cluster: ReadCluster): Promise<readonly Difference[]> => {
  const { names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  if (stored?.inventory?.batch !== stored?.batch || stored?.inventory === undefined) return []
  const { generations, partitions, inventory } = stored
  const damages = await damageOf(at(cluster, generations), {
    partitions,
    inventory,
    aliases: true,
    // A batch may be on its way.
    mayHoldMore: () => true,
  })
  return damages.map(({ name, detail, help }) => ({
    name: name.slice(names.prefix.length + 1),
    problem: 'lost' as const,
    detail: `${detail}. ${help}`,
  }))
}
