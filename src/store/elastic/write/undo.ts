import { parseJson } from '#chain/json.ts'
import type { Batch, Published } from '#store/port.ts'
import { isUndoable, UNDO_LIMITS } from '../../batch.ts'
import { publishedFrom } from '../../published.ts'
import { getMany } from '../client/get-many.ts'
import type { Checkpoint, Undo } from '../schema/checkpoint-record.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { encode } from '../schema/documents.ts'
import { type Entry, journalParts, partId, readPart } from './journal.ts'
import { withMark } from './undo-marks.ts'

/** Members of the checkpoint that an undo record omits: the lease, and how the batch was written. */
type Holding = 'owner' | 'renewed' | 'write' | 'batch' | 'parts' | 'lift' | 'mending' | 'retired'
/** The content of a store at the end of a batch. */
export type Content = Omit<Checkpoint, Holding>
type Ended = Content & { readonly end: Published }

const contentOf = ({
  owner: _,
  renewed: __,
  write: ___,
  batch: ____,
  parts: _____,
  lift: ______,
  mending: _______,
  retired: ________,
  ...content
}: Checkpoint): Content => content

const PREFIX = 'undo-'
const digits = (stamp: number): string => String(stamp).padStart(16, '0')

/** Names of the undo records from the first mark up to a stamp, as a range. */
export const undoNames = ({ marks }: Undo, stamp: number): { readonly gte: string; readonly lt: string } => ({
  gte: `${PREFIX}${digits(marks[0]?.[0] ?? 0)}`,
  lt: `${PREFIX}${digits(stamp + 1)}`,
})

type Header = { readonly to: Published; readonly before: Ended }

const json = (value: object): string =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item))

/** The undo record of a batch with its parts' bodies. undefined: neither this nor any earlier record is kept. */
export const undoOf = (
  batch: Batch,
  before: Checkpoint,
  stamp: number,
): { readonly undo: Undo; readonly bodies: readonly string[] } | undefined => {
  const { end } = before
  if (!isUndoable(batch) || end === undefined) return undefined
  const entries = batch.changes.map((change): Entry => {
    const { index, doc, before } = change
    return { index, id: doc.id, source: before === undefined ? '' : encode(index, before) }
  })
  const bytes = entries.reduce((sum, { source }) => sum + source.length, 0)
  if (bytes > UNDO_LIMITS.batchBytes) return undefined
  const header: Header = { to: batch.end, before: { ...contentOf(before), end } }
  const bodies = [json(header), ...journalParts(entries)]
  const marks = withMark(before.undo?.marks ?? [], stamp, bytes)
  return {
    undo: { name: `${PREFIX}${digits(stamp)}-${crypto.randomUUID()}`, parts: bodies.length, marks },
    bodies,
  }
}

/** An undo record: the end of the batch, the content before it, and its previous documents ('' for none). */
export type Step = Header & { readonly entries: readonly Entry[] }

/** undefined: the record is no longer stored. */
const readUndo = async (cluster: ReadCluster, { name, parts }: Undo): Promise<Step | undefined> => {
  const { connection, names } = cluster
  let header: Header | undefined
  const entries: Entry[] = []
  for (let part = 0; part < parts; part++) {
    const [got] = await getMany(connection, [{ index: names.journal, id: partId(name, part) }], {
      realtime: true,
    })
    const body = got?.source['body']
    if (typeof body !== 'string') return undefined
    if (part > 0) entries.push(...readPart(body))
    else header = headerOf(body)
  }
  return header === undefined ? undefined : { ...header, entries }
}

/** undefined: the store had no end before this batch. */
const headerOf = (body: string): Header | undefined => {
  const { to, before } = parseJson(body) as { readonly to: string; readonly before: Content & { readonly end: string } }
  const [last, first] = [publishedFrom(to), publishedFrom(before.end)]
  return last && first && { to: last, before: { ...before, end: first } }
}

/** Undo records from the last batch backwards, as long as they are kept. */
export const stepsBack = async function* (cluster: ReadCluster, undo: Undo | undefined): AsyncGenerator<Step> {
  for (let next = undo; next !== undefined; ) {
    const step = await readUndo(cluster, next)
    if (step === undefined) return
    yield step
    next = step.before.undo
  }
}

/** The previous version of each changed document; if several records contain it, the oldest counts. */
export const entriesBack = (steps: readonly Step[]): readonly Entry[] => {
  const oldest = new Map<string, Entry>()
  for (const { entries } of steps) for (const entry of entries) oldest.set(`${entry.index.name}\t${entry.id}`, entry)
  return [...oldest.values()]
}
