import { Failure } from '#failure/failure.ts'
import type { Difference } from '#store/port.ts'
import { readCheckpoint, readPublished } from './checkpoint.ts'
import type { PublishedMeta } from './checkpoint-record.ts'
import { at, type ReadCluster } from './cluster.ts'
import { damageOf, readerFailure, stateDamage } from './damage.ts'
import { indexStates } from './index-states.ts'
import { EDITION, SCHEMA } from './mappings.ts'
import { movedKeys } from './moved-keys.ts'

/** Checks before damage is believed, because a migration that ends meanwhile replaces indices. */
const CHECKS = 3

/** The failure of every answer while loaded data is lost; undefined: nothing is lost. */
export const lostToReaders = async (
  cluster: ReadCluster,
  published: () => Promise<PublishedMeta | undefined>,
): Promise<Failure | undefined> => {
  let failure: Failure | undefined
  for (let tried = 0; tried < CHECKS; tried++) {
    const seen = await published()
    if (seen?.inventory?.batch !== seen?.batch || seen?.inventory === undefined) return undefined
    const { generations, partitions, inventory, edition = EDITION } = seen
    const isOwn = edition === EDITION
    const expected = { partitions, inventory, isOwn, aliases: false, mayHoldMore: () => true }
    // Pages need no master, but only the master confirms damage: a server cut off knows no later indices.
    const isDoubtful = (await damageOf(at(cluster, generations), { ...expected, local: true })).length > 0
    failure = isDoubtful ? readerFailure(await damageOf(at(cluster, generations), expected)) : undefined
    if (failure === undefined || (await published())?.batch === seen.batch) return failure
  }
  return failure
}

/** Checks that the index of API keys is the recorded one; returns the failure, or undefined. */
export const lostKeysOf = (cluster: ReadCluster): ((signal?: AbortSignal) => Promise<Failure | undefined>) => {
  const { names } = cluster
  // The last known record also counts when the published one is gone.
  let known: PublishedMeta | undefined
  return async signal => {
    let failure: Failure | undefined
    for (let tried = 0; tried < CHECKS; tried++) {
      known = (await readPublished(cluster, signal)) ?? known
      const { batch, inventory, generations } = known ?? {}
      const here = at(cluster, generations)
      const name = here.names.behind('keys')
      const uuid = inventory?.indices[name]?.[0]
      if (uuid === undefined || inventory?.batch !== batch) return undefined
      failure = await failureOf(here, { name, uuid, aliases: [names.keys] }, signal)
      if (failure === undefined) return undefined
      const now = await readPublished(cluster, signal)
      if (now === undefined || now.batch === batch) return failure
    }
    return failure
  }
}

/** The failure of the index of keys, if the master confirms it. */
const failureOf = async (
  here: ReadCluster,
  known: Parameters<typeof stateDamage>[1],
  signal: AbortSignal | undefined,
): Promise<Failure | undefined> => {
  const seen = async (local: boolean): Promise<Failure | undefined> => {
    const { connection, names } = here
    const found = await indexStates(connection, [known.name, names.keys], { signal, local })
    const before = found.get(known.name)
    if (movedKeys(names, found) === undefined) return readerFailure(stateDamage(here, known, before))
    // The keys in both indices would be valid, including those revoked since.
    return before?.aliases.has(names.keys) === true ? replacedKeys(here, known.name) : undefined
  }
  return (await seen(true)) && (await seen(false))
}

const replacedKeys = ({ connection: { url }, names }: ReadCluster, name: string): Failure =>
  new Failure(
    'unavailable',
    `The alias ${names.keys} at ${url} leads to ${name}, too, from which a migration has moved the API keys.`,
    { help: "Run: 'iostlens indices create'." },
  )

/** The lost indices for operators, according to the checkpoint. */
export const lostOf = async (cluster: ReadCluster): Promise<readonly Difference[]> => {
  const { names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  if (stored?.inventory?.batch !== stored?.batch || stored?.inventory === undefined) return []
  const { generations, partitions, inventory } = stored
  const damages = await damageOf(at(cluster, generations), {
    partitions,
    inventory,
    isOwn: stored.schema === SCHEMA,
    aliases: true,
    // A batch may be under way.
    mayHoldMore: () => true,
  })
  const here = at(cluster, generations)
  const isMoved = movedKeys(here.names, await indexStates(cluster.connection, [names.keys])) !== undefined
  const lost = damages.filter(({ name }) => !isMoved || name !== here.names.behind('keys'))
  return lost.map(({ name, detail, help }) => ({
    name: name.slice(names.prefix.length + 1),
    problem: 'lost' as const,
    detail: `${detail}. ${help}`,
  }))
}
