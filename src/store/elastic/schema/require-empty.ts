import { Failure } from '#failure/failure.ts'
import { requestJson, searchOf } from '../client/request-json.ts'
import { readCheckpoint, restoreHelp } from './checkpoint.ts'
import type { ReadCluster } from './cluster.ts'
import { isDerived, listIndices } from './list-indices.ts'
import { inParts } from './names.ts'

const requireEmpty = async (cluster: ReadCluster): Promise<void> => {
  const { connection, names } = cluster
  const found = await firstDocument(cluster)
  if (found === undefined) return
  throw new Failure(
    'damaged',
    `There are documents in ${found} at ${connection.url}, but no checkpoint in ${names.meta}: it was lost.`,
    { help: restoreHelp(names) },
  )
}

/** An index that contains a document of the chain; undefined: none does. */
export const firstDocument = async (cluster: ReadCluster): Promise<string | undefined> => {
  const { connection, names } = cluster
  const indices = (await listIndices(cluster))
    .filter(({ of }) => isDerived(of))
    .filter(({ of, generation }) => !names.building || generation === names.generations[of])
    .map(({ name }) => name)
  for (const part of inParts(indices)) {
    const { hits } = await requestJson<{ hits?: { hits?: readonly { readonly _index: string }[] } }>(
      connection,
      searchOf(part, { size: 1, _source: false }),
    )
    const [found] = hits?.hits ?? []
    if (found !== undefined) return found._index
  }
  return undefined
}

/**
 * Without a checkpoint a store begins with block 0. Throws 'damaged' if there are documents nevertheless: the
 * checkpoint was lost, and a loader that starts over would count them twice. Documents that another loader
 * has begun to write meanwhile are allowed.
 */
export const requireEmptyStore = async (cluster: ReadCluster): Promise<void> => {
  const isBegun = async () => (await readCheckpoint(cluster)) !== undefined
  if (await isBegun()) return
  try {
    await requireEmpty(cluster)
  } catch (error) {
    if (!(await isBegun())) throw error
  }
}
