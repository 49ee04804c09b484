import type { Failure } from '#failure/failure.ts'
import type { Difference } from '#store/port.ts'
import type { Connection } from '../client/connection.ts'
import { type PublishedMeta, readCheckpoint, readPublished } from './checkpoint.ts'
import { damageOf, readerFailure, standingDamage } from './damage.ts'
import { standingOf } from './index-stats.ts'
import type { Names } from './names.ts'

/** Looks before what is met is believed: a migration that ends meanwhile replaces indices. */
const LOOKS = 3

/** What readers must not answer over; undefined: nothing that was loaded is lost. */
export const lostToReaders = async (
  connection: Connection,
  names: Names,
  look: () => Promise<PublishedMeta | undefined>,
): Promise<Failure | undefined> => {
  let failure: Failure | undefined
  for (let tried = 0; tried < LOOKS; tried++) {
    const at = await look()
    if (at?.inventory?.batch !== at?.batch || at?.inventory === undefined) return undefined
    const { generations, partitions, inventory } = at
    const here = names.at(generations)
    const looking = { connection, names: here, partitions, inventory, aliases: false }
    failure = readerFailure(await damageOf({ ...looking, mayHoldMore: () => true }))
    if (failure === undefined || (await look())?.batch === at.batch) return failure
  }
  return failure
}

/** Gives what must not be answered by the list of keys; undefined: the index of keys is the one that is known. */
export const lostKeysOf = (
  connection: Connection,
  names: Names,
): ((signal?: AbortSignal) => Promise<Failure | undefined>) => {
  // What was known once counts also when the published record is gone.
  let known: PublishedMeta | undefined
  return async signal => {
    let failure: Failure | undefined
    for (let tried = 0; tried < LOOKS; tried++) {
      known = (await readPublished(connection, names, signal)) ?? known
      const { batch, inventory, generations } = known ?? {}
      const here = names.at(generations)
      const name = here.behind('keys')
      const uuid = inventory?.indices[name]?.[0]
      if (uuid === undefined || inventory?.batch !== batch) return undefined
      const standing = (await standingOf(connection, [name], signal)).get(name)
      failure = readerFailure(standingDamage({ connection, names: here }, name, uuid, standing, [names.keys]))
      if (failure === undefined) return undefined
      const now = await readPublished(connection, names, signal)
      if (now === undefined || now.batch === batch) return failure
    }
    return failure
  }
}

/** The same for people, by what the loader knows. */
export const lostOf = async (connection: Connection, names: Names): Promise<readonly Difference[]> => {
  const stored = (await readCheckpoint(connection, names))?.checkpoint
  if (stored?.inventory?.batch !== stored?.batch || stored?.inventory === undefined) return []
  const { generations, partitions, inventory } = stored
  const damages = await damageOf({
    connection,
    names: names.at(generations),
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
