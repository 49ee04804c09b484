import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import { derivationReasons } from '#store/identity.ts'
import type { MigrationPlan } from '#store/migration-port.ts'
import { mappingDifference } from '../schema/check-indices.ts'
import { readCheckpoint } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { type Existing, isDerived, isFormer, listIndices } from '../schema/list-indices.ts'
import { SCHEMA } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { wantedIndices } from '../schema/wanted-indices.ts'

export type MigrationState = {
  readonly checkpoint: Checkpoint
  /** Of the served store. */
  readonly names: Names
  readonly existing: readonly Existing[]
  readonly plan: MigrationPlan
  /** Whether the mapping of the API keys' index differs from this version's. */
  readonly keysDiffer: boolean
  /** Number of a generation that was never served. */
  readonly next: number
}

/** The differences between the served store and this version. */
export const planMigration = async (cluster: ReadCluster): Promise<MigrationState> => {
  const { connection } = cluster
  const stored = await readCheckpoint(cluster)
  if (stored === undefined)
    throw new Failure('conflict', `There is nothing to migrate in ${cluster.names.prefix} at ${connection.url}.`, {
      help: "Run: 'iostlens indices create'.",
    })
  const { checkpoint } = stored
  const names = cluster.names.at(checkpoint.generations)
  const existing = await listIndices(cluster)
  const generations = names.generations
  const isServed = servedBy(names, checkpoint)
  const differences = differencesOf(names, checkpoint, existing)
  const reasons = [...rulesOf(checkpoint), ...differences.map(({ reason }) => reason)]
  return {
    checkpoint,
    names,
    existing,
    keysDiffer: differences.some(({ of }) => of === 'keys'),
    next: 1 + Math.max(0, ...Object.values(generations)),
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

const rulesOf = ({ derivation, schema }: Checkpoint): readonly string[] => [
  ...derivationReasons(derivation),
  ...(schema === SCHEMA ? [] : [`documents of schema ${schema}; expected ${SCHEMA}`]),
]

/** API keys are served from the index behind their alias. */
const servedBy = (names: Names, { partitions, schema }: Checkpoint): ((index: Existing) => boolean) => {
  const served = new Set(wantedIndices(names, partitions).map(({ name }) => name))
  // A loader creates the next partition before it commits its first batch.
  for (const index of historyIndices) served.add(names.partition(index, partitions.length))
  const isOfEarlier = ({ of, generation }: Existing) =>
    schema !== SCHEMA && isFormer(of) && generation === (names.generations[of] ?? 0)
  return index =>
    index.of === 'keys' ? index.aliases.includes(names.keys) : served.has(index.name) || isOfEarlier(index)
}

type Different = { readonly of: string; readonly reason: string }

const differencesOf = (names: Names, { partitions }: Checkpoint, existing: readonly Existing[]): readonly Different[] =>
  wantedIndices(names, partitions).flatMap(({ of, name, alias, shape }): readonly Different[] => {
    const found = existing.find(each =>
      each.of === 'keys' ? of === 'keys' && each.aliases.includes(alias) : each.name === name,
    )
    // The other indices have no documents of the chain, so creating them is enough.
    if (found === undefined) return isDerived(of) ? [{ of, reason: `${name}: does not exist` }] : []
    const detail = mappingDifference(found.mapping, shape.mappings)
    return detail === undefined ? [] : [{ of, reason: `${found.name}: ${detail}` }]
  })
