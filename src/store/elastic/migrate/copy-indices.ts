import { Failure } from '#failure/failure.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { CopyProgress } from '#store/migrating-port.ts'
import { sendBulk } from '../client/bulk.ts'
import { indexItem } from '../client/bulk-item.ts'
import { getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import { mappingDifference } from '../schema/check-indices.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { createIndex, withAliases } from '../schema/create-indices.ts'
import { deleteIndices, type Existing } from '../schema/list-indices.ts'
import { type Names, namesOf } from '../schema/names.ts'
import { startedCheckpoint } from '../schema/wait-for-shards.ts'
import { type Wanted, wantedIndices } from '../schema/wanted-indices.ts'
import { InventoryKeeper } from '../write/inventory-keeper.ts'
import type { Lease } from '../write/keep-lease.ts'
import { type Copying, compareIndices, copyIndex } from './copy-index.ts'
import type { MigrationState } from './plan-migration.ts'
import { type SourceMark, sourceMark } from './source-mark.ts'
import { CONTROL, swap, writeBuiltCheckpoint } from './update-aliases.ts'

type Options = {
  readonly signal: AbortSignal
  readonly onProgress: (progress: CopyProgress) => void
}

type CopyOptions = Options & {
  readonly place: Pick<CopyProgress, 'name' | 'at' | 'of'>
  /** Of the checkpoint. */
  readonly height: number
}

/** An index to be copied: its definition, its source and its target. */
type Task = { readonly index: AnyIndex; readonly from: string; readonly wanted: Wanted }

const NOTES = 'migration'
/** The state of the source when a copy was compared, by name of the copy. */
type Notes = Readonly<Record<string, SourceMark>>

const REGISTRY = new Map<string, AnyIndex>(
  [...historyIndices, ...stateIndices].map(index => [index.name, index]),
)

/**
 * Copies the changed indices to new ones, compares every document, and swaps the aliases. A copy that was compared
 * before the process died is kept if its source has not changed; all others are made anew.
 */
export const copyIndices = async (lease: Lease, seen: MigrationState, options: Options): Promise<void> => {
  const { cluster } = lease
  const checkpoint = lease.checkpoint()
  const target: Cluster = { ...cluster, names: targetOf(seen) }
  const tasks = tasksOf(seen, target.names, checkpoint)
  // A source that lost data must not be copied as if it were complete.
  const keeper = new InventoryKeeper(lease)
  await keeper.begin()
  await keeper.settle()
  await prepare(target, seen, tasks)
  await refresh(
    cluster,
    tasks.map(({ from }) => from),
  )
  let notes = await readNotes(target)
  for (const [before, task] of tasks.entries()) {
    const place = { name: task.from, at: before + 1, of: tasks.length }
    const mark = await sourceMark(cluster.connection, task.from)
    if (Bun.deepEquals(notes[task.wanted.name], mark)) {
      options.onProgress({ ...place, state: 'kept', documents: 0 })
      continue
    }
    await copyOne(cluster, task, { ...options, place, height: checkpoint.end?.height ?? -1 })
    notes = { ...notes, [task.wanted.name]: mark }
    await sendBulk(cluster, [
      indexItem(target.names.meta, NOTES, JSON.stringify({ body: JSON.stringify(notes) })),
    ])
  }
  options.signal.throwIfAborted()
  await writeBuiltCheckpoint(target, checkpoint)
  await swap(lease, target, {
    partitions: checkpoint.partitions,
    changed: seen.changed,
    confirm: () => requireUntouched(cluster, tasks, notes),
  })
}

const targetOf = ({ names, changed, next }: MigrationState): Names => {
  const moved = [...changed, ...CONTROL].map(of => [of, next] as const)
  return namesOf(names.prefix, { ...names.generations, ...Object.fromEntries(moved) })
}

const tasksOf = (
  { names, changed }: MigrationState,
  target: Names,
  { partitions }: Checkpoint,
): readonly Task[] => {
  const sources = wantedIndices(names, partitions).filter(({ of }) => of !== 'keys')
  return wantedIndices(target, partitions).flatMap((wanted, at): readonly Task[] => {
    const index = REGISTRY.get(wanted.of)
    const from = sources[at]?.name
    return index === undefined || from === undefined || !changed.has(wanted.of)
      ? []
      : [{ index, from, wanted }]
  })
}

/** Creates the index for notes about copies; removes unsuitable leftovers of an earlier migration. */
const prepare = async (
  target: Cluster,
  { existing, next }: MigrationState,
  tasks: readonly Task[],
): Promise<void> => {
  const control = wantedIndices(target.names).filter(({ of }) => CONTROL.some(name => name === of))
  const wanted = new Map([...tasks.map(task => task.wanted), ...control].map(each => [each.name, each]))
  const fits = ({ name, mapping }: Existing): boolean => {
    const shape = wanted.get(name)?.shape
    return shape !== undefined && mappingDifference(mapping, shape.mappings) === undefined
  }
  const stale = existing
    .filter(({ of, generation }) => generation === next && of !== 'keys')
    .filter(each => !fits(each))
  await deleteIndices(
    target.connection,
    stale.map(({ name }) => name),
  )
  for (const each of control) await createIndex(target, withAliases(each))
  await startedCheckpoint(target)
}

const readNotes = async ({ connection, names }: Cluster): Promise<Notes> => {
  const [got] = await getMany(connection, [{ index: names.meta, id: NOTES }], { realtime: true })
  return got === undefined ? {} : (JSON.parse(String(got.source['body'])) as Notes)
}

const copyOne = async (
  cluster: Cluster,
  { index, from, wanted }: Task,
  { place, height, signal, onProgress }: CopyOptions,
): Promise<void> => {
  const documents = { copying: 0, comparing: 0 }
  const tell = (state: keyof typeof documents) => (more: number) => {
    documents[state] += more
    onProgress({ ...place, state, documents: documents[state] })
  }
  const copying: Copying = {
    index,
    from,
    to: wanted.name,
    into: wanted.into,
    height,
    signal,
    onCopied: tell('copying'),
    onCompared: tell('comparing'),
  }
  await deleteIndices(cluster.connection, [wanted.name])
  await createIndex(cluster, withAliases(wanted))
  await copyIndex(cluster, copying)
  await compareIndices(cluster.connection, copying)
  onProgress({ ...place, state: 'copied', documents: documents.comparing })
}

/** The lease keeps loaders away; this finds writes by hand and by a loader that slept. */
const requireUntouched = async (cluster: Cluster, tasks: readonly Task[], notes: Notes): Promise<void> => {
  const { names } = cluster
  for (const { from, wanted } of tasks)
    if (!Bun.deepEquals(notes[wanted.name], await sourceMark(cluster.connection, from)))
      throw new Failure(
        'conflict',
        `${from} was written to while it was being copied; ${names.prefix} is unchanged.`,
        {
          help: 'Stop the program that writes to it, then run the migration again.',
        },
      )
}
