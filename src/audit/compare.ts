import { MAX_INT64, MIN_INT64 } from '#chain/bounds.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { writeJson } from '#chain/json.ts'
import { blocks } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import { blockId, lists, transactionId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import type { SettledEnd } from '#store/maintain-port.ts'
import type { Audit, Identity, PlacedRow, Published, Rewrite, Store, StoredDocument, Writer } from '#store/port.ts'

/** A difference between the stored and the expected data. */
export type Finding = {
  /** Name of the index, or `published`. */
  readonly index: string
  readonly id: string
  /** Field, `row N` of a list, or `document` when all of it is missing or superfluous. */
  readonly field: string
  readonly stored: string
  readonly expected: string
  /** Source of the expected value: the replay of the stored blocks, or the node. */
  readonly by: 'replay' | 'node'
}

/** The findings: a bounded number of each kind, and the counts of all. */
export type Findings = {
  add(finding: Finding): void
  /** The first findings of each kind, in the order found. */
  readonly shown: readonly Finding[]
  /** Number of findings by `index field`. */
  readonly totals: ReadonlyMap<string, number>
  readonly count: number
  /** Number of findings that a replay cannot correct, because only the node has the values. */
  readonly beyondRepair: number
}

/** Findings shown of each kind; further ones are only counted. */
const SHOWN = 20
/** Maximum number of characters shown of a value. */
const LETTERS = 160

export function createFindings(shownOfKind = SHOWN): Findings {
  const shown: Finding[] = []
  const totals = new Map<string, number>()
  let count = 0
  let beyondRepair = 0
  return {
    add: finding => {
      // Rows of all lists are one kind.
      const kind = `${finding.index} ${finding.field.replace(/^row \d+$/, 'row')}`
      const before = totals.get(kind) ?? 0
      totals.set(kind, before + 1)
      count += 1
      if (finding.by === 'node') beyondRepair += 1
      if (before < shownOfKind) shown.push(finding)
    },
    shown,
    totals,
    get count() {
      return count
    },
    get beyondRepair() {
      return beyondRepair
    },
  }
}

/** `index id field: stored … expected …`. */
export const findingText = ({ index, id, field, stored, expected, by }: Finding): string =>
  `${index} ${id} ${field}: stored ${cut(stored)} expected ${cut(expected)}${by === 'node' ? ' (node)' : ''}`

const cut = (text: string): string =>
  text.length <= LETTERS ? text : `${text.slice(0, LETTERS)}… (${text.length} characters)`

export const ABSENT = 'nothing'
const PRESENT = 'a document'

/** Documents per write: rows may be some KB, transactions more. */
const AT_ONCE = 500

/** Collects the corrections of the store, which `writer` writes in batches; undefined: nothing is written. */
function createCorrections(writer: Pick<Writer, 'rewrite'> | undefined) {
  let noted: Partial<Rewrite>[] = []
  const flush = async (): Promise<void> => {
    const [put, remove, unplace] = [
      noted.flatMap(each => each.put ?? []),
      noted.flatMap(each => each.remove ?? []),
      noted.flatMap(each => each.unplace ?? []),
    ]
    noted = []
    await writer?.rewrite({ put, remove, unplace })
  }
  return {
    note: async (correction: Partial<Rewrite>): Promise<void> => {
      noted.push(correction)
      if (noted.length >= AT_ONCE) await flush()
    },
    /** Writes the remaining corrections. */
    end: async (): Promise<void> => {
      if (noted.length > 0) await flush()
    },
  }
}

type Stores = {
  readonly stored: Audit
  /** The data of the same height, derived again. */
  readonly expected: Audit
  /** The store behind `expected`. */
  readonly scratch: Pick<Store, 'read'>
  readonly found: (finding: Finding) => void
}

type Sides = Stores & {
  /** Receives the correction of each difference. */
  readonly corrections: ReturnType<typeof createCorrections>
  /** Number of documents checked. */
  readonly onProgress: (documents: number) => void
}

/**
 * Compares every document and every row of the lists. `writer` corrects the differences; undefined: nothing is written.
 * `begin` is called for each index, and returns what counts its documents.
 */
export async function compareDocuments(
  { writer, ...stores }: Stores & { readonly writer: Pick<Writer, 'rewrite'> | undefined },
  begin: (stage: string) => Sides['onProgress'],
): Promise<void> {
  const corrections = createCorrections(writer)
  for (const index of [...historyIndices, ...stateIndices]) {
    await compareIndex({ ...stores, corrections, onProgress: begin(index.name) }, index)
    if (index === lists) await compareRows({ ...stores, corrections, onProgress: begin('rows of lists') })
  }
  await corrections.end()
}

/**
 * Compares every document of an index, field by field. Stored documents are read by pages and compared with the expected
 * ones of the same ids. If fewer were met than expected, the expected documents are then compared with the stored ones.
 */
async function compareIndex(sides: Sides, index: AnyIndex): Promise<void> {
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
    await corrections.note({ remove: [{ index, id, ...(stray === undefined ? {} : { stray }) }] })
    return
  }
  if (doc === undefined) finding('document', 'an unreadable value', PRESENT)
  else {
    const fields = differingFields(index, doc, expected)
    if (fields.length === 0) return
    for (const { field, stored, wanted } of fields) finding(field, stored, wanted)
  }
  await corrections.note({ put: [{ index, doc: expected }] })
}

function differingFields(index: AnyIndex, stored: object, expected: object) {
  const format = (doc: object, field: string): string => {
    const value = (doc as Record<string, unknown>)[field]
    return value === undefined ? ABSENT : writeJson(value)
  }
  return Object.keys(index.fields)
    .map(field => ({ field, stored: format(stored, field), wanted: format(expected, field) }))
    .filter(({ stored: is, wanted }) => is !== wanted)
}

async function findMissing({ stored, expected, found, corrections }: Sides, index: AnyIndex): Promise<void> {
  for await (const page of expected.scan(index)) {
    const ids = page.map(({ id }) => id)
    const there = await stored.existing(index, ids)
    for (const { id, doc } of page) {
      if (there.has(id) || doc === undefined) continue
      found({ index: index.name, id, field: 'document', stored: ABSENT, expected: PRESENT, by: 'replay' })
      await corrections.note({ put: [{ index, doc }] })
    }
  }
}

/** Places per page. */
const PAGE = 2_500
/** Places per answer; a page with more than this has too many rows in any case. */
const LIMIT = 5_000
const ORDINALS = 2n ** 32n

/**
 * Checks that each of the places 1 … count of every list has exactly the row that belongs there, and that no
 * row is elsewhere. Reads all places in order, page by page.
 */
async function compareRows(sides: Sides): Promise<void> {
  const readNames = createNameReader(sides.expected)
  for (let after = MIN_INT64; after < MAX_INT64; ) {
    const { expected, stored, until } = await readNextPage(sides, after)
    await comparePage({ ...sides, readNames }, expected, stored)
    sides.onProgress(expected.length)
    after = until
  }
}

/** The next page of both sides. It is shorter where many more rows are stored than expected. */
async function readNextPage({ stored, expected }: Sides, after: bigint) {
  const wanted = (await expected.placed({ after, until: MAX_INT64, limit: PAGE })).slice(0, PAGE + 1)
  const isLast = wanted.length <= PAGE
  for (let length = Math.min(PAGE, wanted.length); ; length = length >> 1) {
    const page = wanted.slice(0, length)
    const until = isLast && length === wanted.length ? MAX_INT64 : (page.at(-1)?.place ?? MAX_INT64)
    const there = await stored.placed({ after, until, limit: LIMIT })
    if (there.length <= LIMIT) return { expected: page, stored: there, until }
    if (length > 1) continue
    // The answer is cut at its limit: expected rows beyond it are not reported missing.
    const came = new Set(there.map(({ place }) => place))
    return { expected: page.filter(({ place }) => came.has(place)), stored: there, until }
  }
}

async function comparePage(
  sides: Sides & { readonly readNames: ReturnType<typeof createNameReader> },
  expected: readonly PlacedRow[],
  stored: readonly PlacedRow[],
): Promise<void> {
  const wanted = new Map(expected.map(({ place, id }) => [place, id]))
  const there = new Map<bigint, string[]>()
  for (const { place, id } of stored) there.set(place, [...(there.get(place) ?? []), id])
  const places = [...new Set([...wanted.keys(), ...there.keys()])].filter(
    place => there.get(place)?.join(' ') !== wanted.get(place),
  )
  if (places.length === 0) return
  const names = await sides.readNames(new Set(places.map(place => Number(place / ORDINALS))))
  for (const place of places) {
    const id = wanted.get(place)
    sides.found({
      index: lists.name,
      id: names.get(Number(place / ORDINALS)) ?? `number ${place / ORDINALS}`,
      field: `row ${place % ORDINALS}`,
      stored: (there.get(place) ?? []).map(each => each || 'no row').join(' and ') || ABSENT,
      expected: id ?? ABSENT,
      by: 'replay',
    })
    if (id === undefined) await sides.corrections.note({ unplace: [place] })
    else {
      // The row is stored again with all its places.
      const doc = await sides.scratch.read(view => view.get(records, id))
      if (doc !== undefined) await sides.corrections.note({ put: [{ index: records, doc }] })
    }
  }
}

/** Number of lists whose keys are read in advance. */
const NAMED = 100_000

/**
 * Reads keys of lists by their number, for pages of ascending places. The keys of the next lists are read with them,
 * because each read scans all lists.
 */
function createNameReader(expected: Audit) {
  let names = new Map<number, string>()
  let end = 0
  return async (numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> => {
    if ([...numbers].every(number => number < end)) return names
    const first = Math.min(...numbers)
    end = first + NAMED
    names = new Map()
    const isNamed = (number: number): boolean => (number >= first && number < end) || numbers.has(number)
    for await (const page of expected.scan(lists))
      for (const { doc } of page) if (doc !== undefined && isNamed(doc.number)) names.set(doc.number, doc.id)
    return names
  }
}

/**
 * Limits of a plausible last irreversible block: no chain produces blocks so fast, and no node is so far
 * ahead of the loaded blocks. IOST produces two blocks per second (chain/iost 1.1).
 */
const FASTEST = { perSecond: 100, beside: 1_000_000 }

export const isAbsurd = ({ height, time, lib }: Published, nowMs: number): boolean =>
  lib < height ||
  lib > height + FASTEST.beside + FASTEST.perSecond * Math.max(0, nowMs / 1_000 - Number(time / 1_000_000_000n))

/**
 * Compares the store's record of its end and chain with the blocks. Returns the correct record, or undefined
 * when the stored one is correct. `expected`: the same height derived again; `identity`: the chain named by the store.
 */
export async function compareRecord(
  {
    stored: { at: stored },
    expected,
    identity,
  }: { readonly stored: Pick<Audit, 'at'>; readonly expected: Audit; readonly identity: Identity },
  { found, nowMs }: { readonly found: (finding: Finding) => void; readonly nowMs: number },
): Promise<Omit<SettledEnd, 'open'> | undefined> {
  let isRight = true
  const tell = (place: Pick<Finding, 'index' | 'id' | 'field'>, is: unknown, wanted: unknown): void => {
    if (is === wanted) return
    isRight = false
    found({ ...place, stored: String(is), expected: String(wanted), by: 'replay' })
  }
  const { height, hash, time } = expected.at
  const published = { index: 'published', id: String(stored.height) }
  const genesisBlock = { index: 'identity', id: 'genesis' }
  tell({ ...published, field: 'hash' }, stored.hash, hash)
  tell({ ...published, field: 'time' }, stored.time, time)
  const lib = isAbsurd({ height, hash, time, lib: stored.lib }, nowMs) ? height : stored.lib
  if (lib !== stored.lib) tell({ ...published, field: 'lib' }, stored.lib, `${height} or a little more`)
  const genesis = (await expected.getMany(blocks, [blockId(0)]))[0]?.hash ?? identity.genesis
  tell({ ...genesisBlock, field: 'hash' }, identity.genesis, genesis)
  const [first] = await expected.getMany(transactions, [transactionId(0, 0)])
  // Every transaction contains its chain id.
  const chainId = first === undefined ? identity.chainId : decodeTransaction(first.body).chainId
  tell({ ...genesisBlock, field: 'chain_id' }, identity.chainId, chainId)
  return isRight
    ? undefined
    : { identity: { ...identity, genesis, chainId }, end: { ...stored, height, hash, time, lib } }
}
