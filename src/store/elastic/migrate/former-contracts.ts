import { type ContractDoc, contracts } from '#indices/contract.ts'
import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { ReadPort } from '#store/read-port.ts'
import { getMany } from '../client/get-many.ts'
import { readCheckpoint } from '../schema/checkpoint.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { decode } from '../schema/documents.ts'
import { SCHEMA } from '../schema/mappings.ts'
import { KIND } from '../schema/state-ids.ts'

/**
 * The served data, in which contracts are found where the version that wrote them put them: each kind of state had an index
 * of its own. A migration reads no other kind of state.
 */
export function withFormerContracts(cluster: ReadCluster, source: ReadPort): ReadPort {
  return {
    ...source,
    read: (work, how) =>
      source.read(view => {
        const get = async <I extends AnyIndex>(index: I, id: string): Promise<DocOf<I> | undefined> => {
          const stored = index.name === contracts.name ? await readCheckpoint(cluster) : undefined
          if (stored === undefined || stored.checkpoint.schema === SCHEMA) return view.get(index, id)
          const { generations } = stored.checkpoint
          return (await formerContract(cluster, cluster.names.at(generations).behind(contracts.name), id)) as
            | DocOf<I>
            | undefined
        }
        return work({ ...view, get })
      }, how),
  }
}

async function formerContract(
  { connection }: ReadCluster,
  index: string,
  id: string,
): Promise<ContractDoc | undefined> {
  const [found] = await getMany(connection, [{ index, id }], { realtime: false })
  return found && decode(contracts, id, { ...found.source, [KIND]: contracts.name })
}
