import { Failure } from '#failure/failure.ts'
import type { Checkpoint, Inventory } from '../schema/checkpoint-record.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { countsInCopies, indexStates, newestDocuments } from '../schema/index-states.ts'
import { countedNames, listedNames } from '../schema/inventory.ts'

/** The inventory of the indices at present. Throws 'damaged' if one is missing. */
export const takeInventory = async (
  cluster: ReadCluster,
  { partitions, batch }: Pick<Checkpoint, 'partitions' | 'batch'>,
): Promise<Inventory> => {
  const { connection, names } = cluster
  const listed = listedNames(names, partitions)
  const existing = await indexStates(connection, listed)
  const missing = listed.find(name => !existing.has(name))
  if (missing !== undefined)
    throw new Failure('damaged', `There is no index ${missing} at ${connection.url}.`, {
      help: "Run: 'iostlens repair --node URL'.",
    })
  const counted = countedNames(names, partitions)
  const counts = await countsInCopies(connection, counted)
  return {
    batch,
    last: await newestDocuments(connection, counted),
    indices: Object.fromEntries(
      [...existing].map(([name, { uuid }]) => {
        const documents = counts.get(name)
        return [name, documents === undefined ? [uuid] : [uuid, documents]]
      }),
    ),
  }
}
