import { writeJson } from '#chain/json.ts'
import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { Audit, Store, StoredDocument } from '#store/port.ts'
import type { Corrections } from './corrections.ts'
import { ABSENT, type Finding, PRESENT } from './finding.ts'

export type Sides = {
  readonly stored: Audit
  /** The data of the same height, derived again. */
  readonly expected: Audit
  /** The store behind `expected`. */
  readonly scratch: Pick<Store, 'read'>
  readonly found: (finding: Finding) => void
  /** Receives the correction of each difference. */
  readonly corrections: Corrections
  /** Number of documents checked. */
  readonly onProgress: (documents: number) => void
}

/**
 * Compares every document of an index, field by field. Stored documents are read by pages and compared with the expected
 * ones of the same ids. If fewer were met than expected, the expected documents are then compared with the stored ones.
 */
export async function compareIndex(sides: Sides, index: AnyIndex): Promise<void> {
  let met = 0
  for await (const page of sides.stored.scan(index)) {
    const ids = page.map(({ id }) => id)
    const expected = await sides.scratch.read(view => view.getMany(index, ids))
    for (const [at, each] of page.entries()) {
      if (expected[at] !== undefined && each.stray === undefined) met += 1
      await compareOne(sides, index, { ...each, expected: expected[at] })
    }
    sides.onProgress(page.length)
  }
  let wanted = 0
  for await (const page of sides.expected.scan(index)) wanted += page.length
  if (met !== wanted) await findMissing(sides, index)
}

async function compareOne(
  { found, corrections }: Sides,
  index: AnyIndex,
  { id, doc, stray, expected }: StoredDocument & { readonly expected: DocOf<AnyIndex> | undefined },
): Promise<void> {
  const finding = (field: string, stored: string, wanted: string): void =>
    found({ index: index.name, id, field, stored, expected: wanted, by: 'replay' })
  if (expected === undefined || stray !== undefined) {
    finding('document', stray === undefined ? PRESENT : `one in ${stray}`, ABSENT)
    await corrections.remove({ index, id, ...(stray === undefined ? {} : { stray }) })
    return
  }
  if (doc === undefined) finding('document', 'an unreadable value', PRESENT)
  else {
    const fields = differingFields(index, doc, expected)
    if (fields.length === 0) return
    for (const { field, stored, wanted } of fields) finding(field, stored, wanted)
  }
  await corrections.put({ index, doc: expected })
}

const differingFields = (index: AnyIndex, stored: object, expected: object) =>
  Object.keys(index.fields).flatMap(field => {
    const [is, wanted] = [stored, expected].map(doc => written((doc as Record<string, unknown>)[field]))
    return is === wanted || is === undefined || wanted === undefined ? [] : [{ field, stored: is, wanted }]
  })

const written = (value: unknown): string => (value === undefined ? ABSENT : writeJson(value))

async function findMissing({ stored, expected, found, corrections }: Sides, index: AnyIndex): Promise<void> {
  for await (const page of expected.scan(index)) {
    const ids = page.map(({ id }) => id)
    const there = await stored.existing(index, ids)
    for (const { id, doc } of page) {
      if (there.has(id) || doc === undefined) continue
      found({ index: index.name, id, field: 'document', stored: ABSENT, expected: PRESENT, by: 'replay' })
      await corrections.put({ index, doc })
    }
  }
}
