import { Failure } from '#failure/failure.ts'
import { type ContractDoc, contracts } from '#indices/contract.ts'
import type { DocOf } from '#indices/define.ts'
import { type AnyIndex, historyIndices } from '#indices/registry.ts'
import { derivationReasons } from '#store/identity.ts'
import type { MigrationPlan, ReadPort } from '#store/port.ts'
import { getMany } from '../client/read-documents.ts'
import { describeDifference } from '../schema/check-indices.ts'
import { type Checkpoint, readCheckpoint } from '../schema/checkpoint.ts'
import { decodeDoc } from '../schema/documents.ts'
import { type ExistingIndex, isDerived, isFormer, listIndices } from '../schema/index-states.ts'
import { listWantedIndices, SCHEMA } from '../schema/mappings.ts'
import { KIND, type Names, type ReadCluster } from '../schema/names.ts'

export type MigrationState = {
  readonly checkpoint: Checkpoint
  /** Of the served store. */
  readonly names: Names
  readonly existing: readonly ExistingIndex[]
  readonly plan: MigrationPlan
  /** Whether the mapping of the API keys' index differs from this version's. */
  readonly keysDiffer: boolean
  /** The generation of that index: a migration of an earlier version may not have recorded it. */
  readonly keys: number
  /** Number of the generation to build. After a rollback, indices of that number may exist, closed; they are built anew. */
  readonly next: number
}

/** The differences between the served store and this version. */
export async function planMigration(cluster: ReadCluster): Promise<MigrationState> {
  const { connection } = cluster
  const stored = await readCheckpoint(cluster)
  if (stored === undefined)
    throw new Failure('conflict', `There is nothing to migrate in ${cluster.names.prefix} at ${connection.url}.`, {
      help: "Run: 'iostlens indices create'.",
    })
  const { checkpoint } = stored
  const names = cluster.names.at(checkpoint.generations)
  const existing = await listIndices(cluster)
  const isOfKeys = ({ of, aliases }: ExistingIndex) => of === 'keys' && aliases.includes(names.keys)
  const keys = existing.find(isOfKeys)?.generation ?? 0
  const isServed = selectServed(names, checkpoint)
  const differences = listDifferences(names, checkpoint, existing)
  const reasons = [...listRuleChanges(checkpoint), ...differences.map(({ reason }) => reason)]
  return {
    checkpoint,
    names,
    existing,
    keysDiffer: differences.some(({ of }) => of === 'keys'),
    keys,
    next: 1 + Math.max(keys, ...Object.values(names.generations)),
    plan: {
      way: reasons.length === 0 ? 'none' : 'derive',
      reasons,
      leftovers: existing
        .filter(index => !isServed(index))
        .map(({ name }) => name)
        .toSorted(),
    },
  }
}

function listRuleChanges({ derivation, schema }: Checkpoint): readonly string[] {
  return [
    ...derivationReasons(derivation),
    ...(schema === SCHEMA ? [] : [`documents of schema ${schema}; expected ${SCHEMA}`]),
  ]
}

/** API keys are served from the index behind their alias. */
function selectServed(names: Names, { partitions, schema }: Checkpoint): (index: ExistingIndex) => boolean {
  const served = new Set(listWantedIndices(names, partitions).map(({ name }) => name))
  // A loader creates the next partition before it commits its first batch.
  for (const index of historyIndices) served.add(names.partition(index, partitions.length))
  const isOfEarlier = ({ of, generation }: ExistingIndex) =>
    schema !== SCHEMA && isFormer(of) && generation === (names.generations[of] ?? 0)
  return index =>
    index.of === 'keys' ? index.aliases.includes(names.keys) : served.has(index.name) || isOfEarlier(index)
}

type Different = { readonly of: string; readonly reason: string }

function listDifferences(
  names: Names,
  { partitions }: Checkpoint,
  existing: readonly ExistingIndex[],
): readonly Different[] {
  return listWantedIndices(names, partitions).flatMap(({ of, name, alias, shape }): readonly Different[] => {
    const found = existing.find(each =>
      each.of === 'keys' ? of === 'keys' && each.aliases.includes(alias) : each.name === name,
    )
    // The other indices have no documents of the chain, so creating them is enough.
    if (found === undefined) return isDerived(of) ? [{ of, reason: `${name}: does not exist` }] : []
    const detail = describeDifference(found.mapping, shape.mappings)
    return detail === undefined ? [] : [{ of, reason: `${found.name}: ${detail}` }]
  })
}

/**
 * The served data, in which contracts are found where the version that wrote them put them: each kind of state had an index
 * of its own. A migration reads no other kind of state.
 */
export function addFormerContracts(cluster: ReadCluster, source: ReadPort): ReadPort {
  return {
    ...source,
    read: (work, how) =>
      source.read(view => {
        const get = async <I extends AnyIndex>(index: I, id: string): Promise<DocOf<I> | undefined> => {
          const stored = index.name === contracts.name ? await readCheckpoint(cluster) : undefined
          if (stored === undefined || stored.checkpoint.schema === SCHEMA) return view.get(index, id)
          const { generations } = stored.checkpoint
          return (await readFormerContract(cluster, cluster.names.at(generations).behind(contracts.name), id)) as
            | DocOf<I>
            | undefined
        }
        return work({ ...view, get })
      }, how),
  }
}

async function readFormerContract(
  { connection }: ReadCluster,
  index: string,
  id: string,
): Promise<ContractDoc | undefined> {
  const [found] = await getMany(connection, [{ index, id }], { realtime: false })
  return found && decodeDoc(contracts, id, { ...found.source, [KIND]: contracts.name })
}
