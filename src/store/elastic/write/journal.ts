import { Failure } from '#failure/failure.ts'
import { type Change, type StateIndex, stateIndices } from '#indices/registry.ts'
import { type BulkItem, createItem, cut, versionedItem } from '../client/bulk-item.ts'
import { getMany } from '../client/get-many.ts'
import { versionAt } from '../schema/checkpoint-record.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { encode } from '../schema/documents.ts'
import type { Names } from '../schema/names.ts'
import { toStateId } from '../schema/state-ids.ts'

/** A state document of a batch as text, for the journal and for the state index. */
export type Entry = {
  readonly index: StateIndex
  readonly id: string
  readonly source: string
}

/** Size of a part of the journal in bytes of text; JSON escaping adds about a fifth. */
const PART_BYTES = 2_000_000

export const entriesOf = (changes: readonly Change[], stamp: number): readonly Entry[] =>
  changes.map(({ index, doc }) => ({ index, id: doc.id, source: encode(index, doc, stamp) }))

/** Bodies of the parts: one line per entry, in order, with index, id and text separated by tabs, which JSON escapes. */
export const journalParts = function* (
  entries: readonly Entry[],
  maxBytes = PART_BYTES,
): Generator<string, void, void> {
  for (const run of cut(linesOf(entries), maxBytes)) yield run.map(({ line }) => line).join('')
}

const linesOf = function* (entries: readonly Entry[]) {
  for (const { index, id, source } of entries) {
    const line = `${index.name}\t${JSON.stringify(id)}\t${source}\n`
    yield { line, bytes: Buffer.byteLength(line) }
  }
}

const byName = new Map<string, StateIndex>(stateIndices.map(index => [index.name, index]))

export const readPart = (body: string): readonly Entry[] =>
  body
    .split('\n')
    .slice(0, -1)
    .map(line => {
      const [name = '', id = '', source = ''] = line.split('\t')
      const index = byName.get(name)
      if (index === undefined) throw new Failure('defect', `The journal names an unknown index '${name}'.`)
      return { index, id: JSON.parse(id) as string, source }
    })

export const partId = (batch: string, part: number): string => `${batch}-${part}`

/** Writes of the parts of a batch. */
export const partItems = function* (
  names: Names,
  batch: string,
  parts: Iterable<string>,
): Generator<BulkItem, void, void> {
  let part = 0
  for (const body of parts) {
    yield createItem(names.journal, partId(batch, part), JSON.stringify({ batch, part, body }))
    part++
  }
}

/** All entries of a committed batch. */
export const readJournal = async (cluster: ReadCluster, batch: string, parts: number): Promise<readonly Entry[]> => {
  const { connection, names } = cluster
  const entries: Entry[] = []
  // One part at a time: a batch may have many.
  for (let part = 0; part < parts; part++) {
    const ref = { index: names.journal, id: partId(batch, part) }
    const [got] = await getMany(connection, [ref], { realtime: true })
    if (got === undefined)
      throw new Failure('defect', `Part ${part} of ${parts} of journal ${batch} is missing in ${names.journal}.`)
    for (const entry of readPart(bodyOf(got.source))) entries.push(entry)
  }
  return entries
}

const bodyOf = ({ body }: { readonly body?: unknown }): string => {
  if (typeof body !== 'string') throw new Failure('defect', 'A part of the journal has no body.')
  return body
}

/** Writes of the entries with a stamp; newer documents stay. */
export const applyItems = function* (
  names: Names,
  entries: readonly Entry[],
  stamp: number,
): Generator<BulkItem, void, void> {
  const version = versionAt(stamp)
  for (const { index, id, source } of entries)
    yield versionedItem({ index: names.into(index), id: toStateId(index, id) }, version, source)
}
