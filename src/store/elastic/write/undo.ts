import type { Batch, Published } from '#store/port.ts'
import { publishedFrom } from '#store/published-from.ts'
import { isKept, KEPT } from '#store/undo.ts'
import { getMany } from '../client/get-many.ts'
import type { Checkpoint } from '../schema/checkpoint.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { encode } from '../schema/documents.ts'
import { type Entry, journalParts, partId, readPart } from './journal.ts'
import { keptWith, type Mark } from './undo-marks.ts'

/** Where the journal has what takes the last batch back; that names the one before. */
export type Undo = {
  /** Under which its parts stand: the first tells what was before, the others the documents as they were. */
  readonly name: string
  readonly parts: number
  readonly marks: readonly Mark[]
}

/** What a batch leaves as it was, or writes of its own: who holds the store, and how it is written. */
type Holding = 'owner' | 'renewed' | 'write' | 'batch' | 'parts' | 'lift' | 'mending' | 'retired'
/** What is known of a store at the end of a batch. */
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

/** Names of all that is kept from the first mark on up to a stamp, as a range. */
export const keptNames = ({ marks }: Undo, stamp: number): { readonly gte: string; readonly lt: string } => ({
  gte: `${PREFIX}${digits(marks[0]?.[0] ?? 0)}`,
  lt: `${PREFIX}${digits(stamp + 1)}`,
})

type Header = { readonly to: Published; readonly before: Ended }

const json = (value: object): string =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item))

/** What is to be kept of a batch: the bodies of its parts. undefined: it is not kept, nor what was before it. */
export const undoOf = (
  batch: Batch,
  before: Checkpoint,
  stamp: number,
): { readonly undo: Undo; readonly bodies: readonly string[] } | undefined => {
  const { end } = before
  if (!isKept(batch) || end === undefined) return undefined
  const entries = batch.changes.map((change): Entry => {
    const { index, doc, before } = change
    return { index, id: doc.id, source: before === undefined ? '' : encode(index, before) }
  })
  const bytes = entries.reduce((sum, { source }) => sum + source.length, 0)
  if (bytes > KEPT.batchBytes) return undefined
  const header: Header = { to: batch.end, before: { ...contentOf(before), end } }
  const bodies = [json(header), ...journalParts(entries)]
  const marks = keptWith(before.undo?.marks ?? [], stamp, bytes)
  return {
    undo: { name: `${PREFIX}${digits(stamp)}-${crypto.randomUUID()}`, parts: bodies.length, marks },
    bodies,
  }
}

/** Takes back one batch: where it ended, what was before it, and its documents as they were ('' for none). */
export type Step = Header & { readonly entries: readonly Entry[] }

/** undefined: it is not there any more. */
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

/** undefined: what was before it had no end. */
const headerOf = (body: string): Header | undefined => {
  const { to, before } = JSON.parse(body)
  const [last, first] = [publishedFrom(to), publishedFrom(before.end)]
  return last && first && { to: last, before: { ...before, end: first } }
}

/** Batches one after the other, from the last one back, as far as they are kept. */
export const stepsBack = async function* (
  cluster: ReadCluster,
  undo: Undo | undefined,
): AsyncGenerator<Step> {
  for (let next = undo; next !== undefined; ) {
    const step = await readUndo(cluster, next)
    if (step === undefined) return
    yield step
    next = step.before.undo
  }
}

/** The document of a change as it was, by its index and id; the oldest word counts. */
export const entriesBack = (steps: readonly Step[]): readonly Entry[] => {
  const oldest = new Map<string, Entry>()
  for (const { entries } of steps)
    for (const entry of entries) oldest.set(`${entry.index.name}\t${entry.id}`, entry)
  return [...oldest.values()]
}
