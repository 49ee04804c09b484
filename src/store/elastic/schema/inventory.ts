import { Failure } from '#failure/failure.ts'
import type { StoreDifference } from '#store/port.ts'
import { getInventory, type Inventory, type PublishedMeta, readCheckpoint, readPublished } from './checkpoint.ts'
import { countDocuments, type IndexState, readIndexStates } from './index-states.ts'
import { listWantedIndices } from './mappings.ts'
import { type PartitionStarts, type ReadCluster, selectGenerations } from './names.ts'

type Damage = {
  readonly name: string
  /** An operator can quickly fix `closed` and `hidden` (the alias is missing); the others mean lost data. */
  readonly problem: 'missing' | 'other' | 'closed' | 'hidden' | 'documents'
  /** One line, to be followed by a full stop. */
  readonly detail: string
  readonly help: string
}

type ExpectedIndices = {
  readonly inventory: Inventory
  /**
   * Whether an index may have more documents than the inventory counts. For readers every index may, because a loader
   * continues; for a loader the indices that it writes ahead, and every index as long as an abandoned batch is there.
   */
  readonly mayHoldMore: (index: string) => boolean
  /** The partitions, if aliases are checked; readers do not need them, because they read by name of index. */
  readonly aliasesOf?: PartitionStarts
  /** Whether to read the states without the master, see `readIndexStates`. */
  readonly local?: boolean
}

/**
 * Compares the indices with an inventory; []: nothing is lost. A server that is cut off from its cluster
 * lacks the documents written since. So a difference counts only if it is found again, in every copy that a
 * master has in use. Throws 'unavailable' if that cannot be determined.
 */
export async function findDamage(cluster: ReadCluster, expected: ExpectedIndices): Promise<readonly Damage[]> {
  let damages = await compareOnce(cluster, expected, { inCopies: false })
  // The hosts take turns, so different servers answer.
  for (let more = 0; more < 2 && damages.length > 0; more++)
    damages = await compareOnce(cluster, expected, { inCopies: true })
  return damages
}

async function compareOnce(
  cluster: ReadCluster,
  expected: ExpectedIndices,
  how: { readonly inCopies: boolean },
): Promise<readonly Damage[]> {
  const { connection, names } = cluster
  const { inventory, aliasesOf } = expected
  const all = Object.entries(inventory.indices)
  const counted = all.flatMap(([name, [, documents]]) => (documents === undefined ? [] : [{ name, documents }]))
  // In parallel, because a loader waits for both twice per batch.
  const counting = countDocuments(
    connection,
    counted.map(({ name }) => name),
    how,
  )
  // A missing or closed index cannot be counted; its state explains the damage.
  counting.catch(() => undefined)
  const existing = await readIndexStates(
    connection,
    all.map(([name]) => name),
    { local: expected.local === true },
  )
  const wanted = aliasesOf === undefined ? [] : listWantedIndices(names, aliasesOf)
  const aliases = new Map(wanted.map(({ name, alias, into }) => [name, [alias, into]]))
  const damages = all.flatMap(([name, [uuid]]) =>
    compareState(cluster, { name, uuid, aliases: aliases.get(name) ?? [] }, existing.get(name)),
  )
  if (damages.length > 0) return damages
  const counts = await counting
  return counted.flatMap(({ name, documents }) => {
    const found = counts.get(name) ?? 0
    const isRight = found === documents || (found > documents && expected.mayHoldMore(name))
    const detail = `${name} at ${connection.url} has ${found} documents, expected ${documents}`
    const help = "Run: 'iostlens repair'. Or restore the index from a snapshot of exactly this height."
    return isRight ? [] : [{ name, problem: 'documents' as const, detail, help }]
  })
}

/** The damage of one index by its identity, without counting documents. */
function compareState(
  { connection: { url }, names }: ReadCluster,
  { name, uuid, aliases }: { readonly name: string; readonly uuid: string; readonly aliases: readonly string[] },
  existing: IndexState | undefined,
): readonly Damage[] {
  const isKeys = name === names.behind('keys')
  const place = `${name} at ${url}`
  const lostKeys =
    "Restore it from a snapshot. Or run 'iostlens repair', then create new keys with 'iostlens keys add': the old ones are lost."
  if (existing === undefined) {
    const detail = `${place} is gone, with ${isKeys ? 'the API keys in it' : 'the data that was loaded into it'}`
    const lost = "Restore it from a snapshot, run 'iostlens repair', or run 'iostlens load' with another --store."
    return [{ name, problem: 'missing', detail, help: isKeys ? lostKeys : lost }]
  }
  if (existing.uuid !== uuid) {
    const origin = `the index that was ${isKeys ? 'created' : 'loaded'}`
    const detail = `${place} is not ${origin}: its UUID is ${existing.uuid}, expected ${uuid}`
    const check = "Run: 'iostlens repair'. It checks the index, corrects what differs and then accepts it."
    return [{ name, problem: 'other', detail, help: isKeys ? lostKeys : check }]
  }
  if (existing.closed)
    return [{ name, problem: 'closed', detail: `${place} is closed`, help: `Open it: POST /${name}/_open.` }]
  const help = "Run: 'iostlens indices create'."
  const missing = aliases.filter(alias => !existing.aliases.has(alias))
  return missing.map(alias => ({ name, problem: 'hidden', detail: `${place} has lost its alias ${alias}`, help }))
}

function isPassing({ problem }: Damage): boolean {
  return problem === 'closed' || problem === 'hidden'
}

/** The failure for a loader. It waits for an operator's fix, and otherwise writes nothing. */
export function toLoaderFailure(damages: readonly Damage[]): Failure | undefined {
  return toReaderFailure(damages.toSorted((a, b) => Number(isPassing(a)) - Number(isPassing(b))))
}

/** The failure for readers: no request is answered until the damage is fixed. */
function toReaderFailure(damages: readonly Damage[]): Failure | undefined {
  const [first] = damages
  if (first === undefined) return undefined
  const { name, problem, detail, help } = first
  const others = damages.length > 1 ? `, and ${damages.length - 1} more indices are damaged` : ''
  const kind = isPassing(first) ? 'unavailable' : 'damaged'
  return new Failure(kind, `${detail}${others}.`, { help, details: { index: name, problem } })
}

/** Checks before damage is believed, because a migration that ends meanwhile replaces indices. */
const CHECKS = 3

/** The failure of every answer while loaded data is lost; undefined: nothing is lost. */
export async function checkLost(
  cluster: ReadCluster,
  published: () => Promise<PublishedMeta | undefined>,
): Promise<Failure | undefined> {
  let failure: Failure | undefined
  for (let tried = 0; tried < CHECKS; tried++) {
    const seen = await published()
    const inventory = seen && getInventory(seen)
    if (seen === undefined || inventory === undefined) return undefined
    const expected = { inventory, mayHoldMore: () => true }
    // Pages need no master, but only the master confirms damage: a server cut off knows no later indices.
    const here = selectGenerations(cluster, seen.generations)
    const isDoubtful = (await findDamage(here, { ...expected, local: true })).length > 0
    failure = isDoubtful ? toReaderFailure(await findDamage(here, expected)) : undefined
    if (failure === undefined || (await published())?.batch === seen.batch) return failure
  }
  return failure
}

/** A check that throws unless the index of API keys is the recorded one. */
export function createKeysCheck(cluster: ReadCluster): (signal?: AbortSignal) => Promise<void> {
  const { names } = cluster
  // The last known record also counts when the published one is gone.
  let known: PublishedMeta | undefined
  return async signal => {
    let failure: Failure | undefined
    for (let tried = 0; tried < CHECKS; tried++) {
      known = (await readPublished(cluster, signal)) ?? known
      const here = selectGenerations(cluster, known?.generations)
      const name = here.names.behind('keys')
      const uuid = known && getInventory(known)?.indices[name]?.[0]
      if (uuid === undefined) return
      const see = async (local: boolean): Promise<Failure | undefined> => {
        const found = await readIndexStates(here.connection, [name], { signal, local })
        return toReaderFailure(compareState(here, { name, uuid, aliases: [names.keys] }, found.get(name)))
      }
      // Only the master confirms damage.
      failure = (await see(true)) && (await see(false))
      if (failure === undefined) return
      const now = await readPublished(cluster, signal)
      if (now === undefined || now.batch === known?.batch) break
    }
    throw failure
  }
}

/** The lost indices for operators, according to the checkpoint. */
export async function listLost(cluster: ReadCluster): Promise<readonly StoreDifference[]> {
  const { names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  const inventory = stored && getInventory(stored)
  if (stored === undefined || inventory === undefined) return []
  const { generations, partitions: aliasesOf } = stored
  const damages = await findDamage(selectGenerations(cluster, generations), {
    inventory,
    aliasesOf,
    // A batch may be under way.
    mayHoldMore: () => true,
  })
  return damages.map(({ name, detail, help }) => ({
    name: name.slice(names.prefix.length + 1),
    problem: 'lost' as const,
    detail: `${detail}. ${help}`,
  }))
}
