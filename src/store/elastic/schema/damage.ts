import { Failure } from '#failure/failure.ts'
import type { Connection } from '../client/connection.ts'
import type { Inventory } from './checkpoint-record.ts'
import type { ReadCluster } from './cluster.ts'
import { countsInCopies, countsOf, type IndexState, indexStates } from './index-states.ts'
import { type Counts, countedNames } from './inventory.ts'
import type { Names } from './names.ts'
import type { Partitions } from './partitions.ts'
import { wantedIndices } from './wanted-indices.ts'

/** A difference from the inventory. */
export type Damage = {
  /** Name of the index. */
  readonly name: string
  /** An operator can quickly fix `closed` and `hidden` (the alias is missing); the others mean lost data. */
  readonly problem: 'missing' | 'other' | 'closed' | 'hidden' | 'documents'
  /** One line, to be followed by a full stop. */
  readonly detail: string
  readonly help: string
}

export type Expected = {
  readonly partitions: Partitions
  readonly inventory: Inventory
  /**
   * Whether an index may have more documents than the inventory counts. For readers every index may, because
   * a loader continues; for a loader the indices it writes ahead.
   */
  readonly mayHoldMore: (index: string) => boolean
  /** Whether this version's indices are expected; a store of an earlier version has others. */
  readonly isOwn?: boolean
  /** Whether to check aliases; readers do not need them, because they read by name of index. */
  readonly aliases: boolean
  /** Whether to read the states without the master, see `StatesOptions`. */
  readonly local?: boolean
}

/** Further comparisons before damage is believed. The hosts take turns, so different servers answer. */
const FURTHER = 2

/**
 * Compares the indices with an inventory; []: nothing is lost. A server that is cut off from its cluster
 * lacks the documents written since. So a difference counts only if it is found again, in every copy that a
 * master has in use. Throws 'unavailable' if that cannot be determined.
 */
export const damageOf = async (cluster: ReadCluster, expected: Expected): Promise<readonly Damage[]> => {
  let damages = await compareOnce(cluster, expected, countsOf)
  for (let more = 0; more < FURTHER && damages.length > 0; more++)
    damages = await compareOnce(cluster, expected, countsInCopies)
  return damages
}

const compareOnce = async (
  cluster: ReadCluster,
  expected: Expected,
  countDocuments: (connection: Connection, indices: readonly string[]) => Promise<Counts>,
): Promise<readonly Damage[]> => {
  const { connection, names } = cluster
  const { partitions, inventory } = expected
  const all = Object.entries(inventory.indices)
  const counted = all.flatMap(([name, [, documents]]) => (documents === undefined ? [] : [{ name, documents }]))
  // In parallel, because a loader waits for both twice per batch.
  const counting = countDocuments(
    connection,
    counted.map(({ name }) => name),
  )
  // A missing or closed index cannot be counted; its state explains the damage.
  counting.catch(() => undefined)
  const existing = await indexStates(
    connection,
    all.map(([name]) => name),
    { local: expected.local === true },
  )
  const aliases = expected.aliases ? aliasesIn(names, partitions) : new Map<string, readonly string[]>()
  const damages = all.flatMap(([name, [uuid]]) =>
    stateDamage(cluster, { name, uuid, aliases: aliases.get(name) ?? [] }, existing.get(name)),
  )
  if (damages.length > 0) return damages
  const { isOwn = true } = expected
  const unnamed = (isOwn ? countedNames(names, partitions) : []).filter(
    name => inventory.indices[name]?.[1] === undefined,
  )
  if (unnamed.length > 0) return unnamed.map(name => unnamedDamage(connection, name))
  const counts = await counting
  return counted.flatMap(({ name, documents }) => {
    const found = counts.get(name) ?? 0
    const isRight = found === documents || (found > documents && expected.mayHoldMore(name))
    return isRight ? [] : [countDamage(connection, name, [found, documents])]
  })
}

const aliasesIn = (names: Names, partitions: Partitions): ReadonlyMap<string, readonly string[]> =>
  new Map(wantedIndices(names, partitions).map(({ name, alias, into }) => [name, [alias, into]]))

const LOST = "Restore it from a snapshot, run 'iostlens repair', or run 'iostlens load' with another --store."

const LOST_KEYS =
  "Restore it from a snapshot. Or run 'iostlens repair', then create new keys with 'iostlens keys add': the old ones are lost."

/** The damage of one index by its identity, without counting documents. */
export const stateDamage = (
  { connection: { url }, names }: ReadCluster,
  { name, uuid, aliases }: { readonly name: string; readonly uuid: string; readonly aliases: readonly string[] },
  existing: IndexState | undefined,
): readonly Damage[] => {
  const isKeys = name === names.behind('keys')
  if (existing === undefined)
    return [
      {
        name,
        problem: 'missing',
        detail: `${name} at ${url} is gone, with ${isKeys ? 'the API keys in it' : 'the data that was loaded into it'}`,
        help: isKeys ? LOST_KEYS : LOST,
      },
    ]
  if (existing.uuid !== uuid)
    return [
      {
        name,
        problem: 'other',
        detail: `${name} at ${url} is not the index that was ${isKeys ? 'created' : 'loaded'}: its UUID is ${existing.uuid}, expected ${uuid}`,
        help: isKeys
          ? LOST_KEYS
          : "Run: 'iostlens repair'. It checks the index, corrects what differs and then accepts it.",
      },
    ]
  if (existing.closed)
    return [
      {
        name,
        problem: 'closed',
        detail: `${name} at ${url} is closed`,
        help: `Open it: POST /${name}/_open.`,
      },
    ]
  return aliases
    .filter(alias => !existing.aliases.has(alias))
    .map(alias => ({
      name,
      problem: 'hidden',
      detail: `${name} at ${url} has lost its alias ${alias}`,
      help: "Run: 'iostlens indices create'.",
    }))
}

const unnamedDamage = ({ url }: Connection, name: string): Damage => ({
  name,
  problem: 'other',
  detail: `${name} at ${url} is not in the store's list of its indices`,
  help: "Run: 'iostlens repair'. It checks the index, corrects what differs and then accepts it.",
})

const countDamage = (
  { url }: Connection,
  name: string,
  [found, documents]: readonly [found: number, expected: number],
): Damage => ({
  name,
  problem: 'documents',
  detail: `${name} at ${url} has ${found} documents, expected ${documents}`,
  help: "Run: 'iostlens repair'. Or restore the index from a snapshot of exactly this height.",
})

const isPassing = ({ problem }: Damage): boolean => problem === 'closed' || problem === 'hidden'

/** The failure for a loader. It waits for an operator's fix, and otherwise writes nothing. */
export const loaderFailure = (damages: readonly Damage[]): Failure | undefined =>
  readerFailure(damages.toSorted((a, b) => Number(isPassing(a)) - Number(isPassing(b))))

/** The failure for readers: no request is answered until the damage is fixed. */
export const readerFailure = (damages: readonly Damage[]): Failure | undefined => {
  const [first] = damages
  if (first === undefined) return undefined
  const { name, problem, detail, help } = first
  const others = damages.length > 1 ? `, and ${damages.length - 1} more indices are damaged` : ''
  const kind = isPassing(first) ? 'unavailable' : 'damaged'
  return new Failure(kind, `${detail}${others}.`, { help, details: { index: name, problem } })
}
