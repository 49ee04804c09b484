import { Failure } from '#failure/failure.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { CopyProgress } from '#store/migrating-port.ts'
import { type Bulk, sendBulk } from '../client/bulk.ts'
import { indexItem } from '../client/bulk-item.ts'
import { getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import type { Checkpoint } from '../schema/checkpoint.ts'
import { type CreateOptions, createIndex, mappingDifference, withAliases } from '../schema/create-indices.ts'
import { type Existing, removeIndices } from '../schema/existing-indices.ts'
import { type Names, namesOf } from '../schema/names.ts'
import { startedCheckpoint } from '../schema/wait-for-shards.ts'
import { type Wanted, wantedIndices } from '../schema/wanted-indices.ts'
import { stockKeeper } from '../write/inventory-keeper.ts'
import type { MigrationHold } from './close-source.ts'
import { type Copying, compareIndices, copyIndex } from './copy-index.ts'
import type { Seen } from './plan.ts'
import { type SourceMark, sourceMark } from './source-mark.ts'
import { beginMeta, CONTROL, swap } from './update-aliases.ts'

type Options = {
  readonly create: CreateOptions
  readonly signal: AbortSignal
  readonly onProgress: (progress: CopyProgress) => void
}

/** An index to be copied: by its definition, from where, to what. */
type Task = { readonly index: AnyIndex; readonly from: string; readonly wanted: Wanted }

const NOTES = 'migration'
/** By name of a copy that was compared: what its source was then. */
type Notes = Readonly<Record<string, SourceMark>>

const REGISTRY = new Map<string, AnyIndex>(
  [...historyIndices, ...stateIndices].map(index => [index.name, index]),
)

/**
 * Copies what is in the changed indices to new ones, compares every document, and swaps. A copy that was compared
 * before the process died is kept when its source is the same still; all others are made anew.
 */
export const migrateByCopy = async (hold: MigrationHold, seen: Seen, options: Options): Promise<void> => {
  const { bulk, names } = hold
  const checkpoint = hold.checkpoint()
  const target = targetOf(seen)
  const tasks = tasksOf(seen, target, checkpoint)
  // What is lost must not be copied as if it were all there is.
  const keeper = stockKeeper(bulk, names, hold)
  await keeper.begin()
  await keeper.settle()
  await prepare(bulk, seen, target, tasks, options)
  await refresh(
    bulk,
    tasks.map(({ from }) => from),
  )
  let notes = await readNotes(bulk, target)
  for (const [before, task] of tasks.entries()) {
    const place = { name: task.from, at: before + 1, of: tasks.length }
    const mark = await sourceMark(bulk.connection, task.from)
    if (Bun.deepEquals(notes[task.wanted.name], mark)) {
      options.onProgress({ ...place, state: 'kept', documents: 0 })
      continue
    }
    await copyOne(bulk, task, checkpoint, place, options)
    notes = { ...notes, [task.wanted.name]: mark }
    await sendBulk(bulk, [indexItem(target.meta, NOTES, JSON.stringify({ body: JSON.stringify(notes) }))])
  }
  options.signal.throwIfAborted()
  await beginMeta(hold, target, checkpoint)
  await swap(hold, target, {
    partitions: checkpoint.partitions,
    changed: seen.changed,
    replicas: options.create.replicas,
    confirm: () => requireUntouched(bulk, names, tasks, notes),
  })
}

const targetOf = ({ names, changed, next }: Seen): Names => {
  const moved = [...changed, ...CONTROL].map(of => [of, next] as const)
  return namesOf(names.prefix, { ...names.generations, ...Object.fromEntries(moved) })
}

const tasksOf = ({ names, changed }: Seen, target: Names, { partitions }: Checkpoint): readonly Task[] => {
  const sources = wantedIndices(names, partitions).filter(({ of }) => of !== 'keys')
  return wantedIndices(target, partitions).flatMap((wanted, at): readonly Task[] => {
    const index = REGISTRY.get(wanted.of)
    const from = sources[at]?.name
    return index === undefined || from === undefined || !changed.has(wanted.of)
      ? []
      : [{ index, from, wanted }]
  })
}

/** Creates where copies are noted; what an earlier migration left and does not fit is removed. */
const prepare = async (
  bulk: Bulk,
  { existing, next }: Seen,
  target: Names,
  tasks: readonly Task[],
  { create }: Options,
): Promise<void> => {
  const control = wantedIndices(target).filter(({ of }) => CONTROL.some(name => name === of))
  const wanted = new Map([...tasks.map(task => task.wanted), ...control].map(each => [each.name, each]))
  const fits = ({ name, mapping }: Existing): boolean => {
    const shape = wanted.get(name)?.shape
    return shape !== undefined && mappingDifference(mapping, shape.mappings) === undefined
  }
  const stale = existing
    .filter(({ of, generation }) => generation === next && of !== 'keys')
    .filter(each => !fits(each))
  await removeIndices(
    bulk.connection,
    stale.map(({ name }) => name),
  )
  for (const each of control) await createIndex(bulk.connection, withAliases(each), create)
  await startedCheckpoint(bulk.connection, target, bulk.clock)
}

const readNotes = async ({ connection }: Bulk, target: Names): Promise<Notes> => {
  const [got] = await getMany(connection, [{ index: target.meta, id: NOTES }], { realtime: true })
  return got === undefined ? {} : (JSON.parse(String(got.source['body'])) as Notes)
}

const copyOne = async (
  bulk: Bulk,
  { index, from, wanted }: Task,
  { end }: Checkpoint,
  place: Pick<CopyProgress, 'name' | 'at' | 'of'>,
  { create, signal, onProgress }: Options,
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
    height: end?.height ?? -1,
    signal,
    onCopied: tell('copying'),
    onCompared: tell('comparing'),
  }
  await removeIndices(bulk.connection, [wanted.name])
  await createIndex(bulk.connection, withAliases(wanted), create)
  await copyIndex(bulk, copying)
  await compareIndices(bulk.connection, copying)
  onProgress({ ...place, state: 'copied', documents: documents.comparing })
}

/** Loaders are kept away; a repair by hand, or a loader that slept, is met here. */
const requireUntouched = async (
  bulk: Bulk,
  names: Names,
  tasks: readonly Task[],
  notes: Notes,
): Promise<void> => {
  for (const { from, wanted } of tasks)
    if (!Bun.deepEquals(notes[wanted.name], await sourceMark(bulk.connection, from)))
      throw new Failure(
        'conflict',
        `${from} was written to while it was being copied; ${names.prefix} is unchanged.`,
        {
          help: 'Stop the program that writes to it, then run the migration again.',
        },
      )
}
