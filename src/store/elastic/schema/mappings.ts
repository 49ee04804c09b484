import { createHash } from 'node:crypto'
import type { Field, Index } from '#indices/define.ts'
import { DERIVATION, historyIndices, stateIndices } from '#indices/registry.ts'
import { series } from '#indices/series.ts'
import {
  FIRST_PARTITION,
  GROUP,
  getStateIndex,
  getStoredNames,
  KIND,
  MEMBER,
  NAMED,
  type Names,
  type PartitionStarts,
  STATE_INDICES,
  VALUE,
} from './names.ts'

/** A field as Elasticsearch returns it: without defaults. */
type Property =
  | { readonly type: 'keyword' | 'long' | 'boolean'; readonly index?: false; readonly doc_values?: false }
  | { readonly type: 'object'; readonly enabled: false }
export type Mapping = {
  readonly dynamic: 'strict' | 'false'
  readonly _meta: { readonly schema: number; readonly fingerprint: string }
  readonly properties: Readonly<Record<string, Property>>
}
/** A mapping as an index has it, whoever made or changed it. */
export type StoredMapping = Partial<Mapping> & { readonly _source?: unknown; readonly runtime?: unknown }
/** Settings and mappings of an index, without its name, alias and number of replicas. */
export type IndexShape = {
  readonly settings: { readonly index: Readonly<Record<string, unknown>> }
  readonly mappings: Mapping
}

/**
 * Raised when Elasticsearch stores the same documents differently although the mappings stay the same. Other
 * values or rows of the same blocks raise `DERIVATION`.
 */
export const SCHEMA = 2

const storedOnly: Property = { type: 'keyword', index: false, doc_values: false }
const searchedLong: Property = { type: 'long', doc_values: false }

/** Types of the kinds of fields that can be searched or sorted; the others are only stored. */
const TYPES: Readonly<Partial<Record<Field['kind'], 'keyword' | 'long' | 'boolean'>>> = {
  keyword: 'keyword',
  hash8: 'keyword',
  long: 'long',
  int: 'long',
  places: 'long',
  bool: 'boolean',
}

function toProperty({ kind, searched, sorted }: Field): Property {
  const type = TYPES[kind]
  if (type === undefined) return storedOnly
  return { type, ...(searched ? {} : { index: false }), ...(sorted ? {} : { doc_values: false }) }
}

/**
 * Field of state documents: stamp of the batch that wrote them. A search for it shows whether newer documents
 * are visible.
 */
export const AT = 'at'

/**
 * Field of state documents: the stamp that was published when the document was sent, and the document that it replaced
 * (`Before` in `documents.ts`). If a loader's file is lost while a batch is sent, the next loader reads the published state
 * from this field.
 */
export const BEFORE = 'before'

/** Field of history documents: height of their block. */
export const HEIGHT = 'height'

/** Shape of an index with documents of one kind: history, and series. */
export function toShape(index: Index): IndexShape {
  const properties: Record<string, Property> = {}
  for (const [name, field] of Object.entries(index.fields)) properties[name] = toProperty(field)
  if (index.kind === 'state') {
    properties[AT] = searchedLong
    properties[BEFORE] = { type: 'object', enabled: false }
  }
  // Only loaders, repairs and audits search by height: doc values alone are small and fast enough.
  else properties[HEIGHT] = { type: 'long', index: false }
  return createShape(properties)
}

const sortedKeyword: Property = { type: 'keyword' }

/**
 * The sort on disk of the index `state`, so that a page of a kind's first order reads only the rows it shows. Kind and
 * group come first, because the sort of a query must be a prefix of it.
 */
export const SORT = [
  [KIND, 'asc'],
  [GROUP, 'asc'],
  [VALUE, 'desc'],
  [MEMBER, 'asc'],
] as const

/**
 * Only fields that some query uses are mapped. The others are stored with each document as they are, so kinds may have
 * fields of the same name and different types; the fingerprint covers them all.
 */
function createStateShape(): IndexShape {
  const kinds = stateIndices.filter(index => getStateIndex(index) === 'state')
  const properties: Record<string, Property> = {
    [KIND]: sortedKeyword,
    [GROUP]: sortedKeyword,
    [VALUE]: { type: 'long' },
    [MEMBER]: sortedKeyword,
    [NAMED]: { type: 'keyword', doc_values: false },
    [AT]: searchedLong,
  }
  for (const index of kinds as readonly Index[]) {
    const common = getStoredNames(index)
    const orders = Object.values(index.orders)
    const sortedBy = orders.flatMap(({ by }) => by.map(([field]) => field))
    const searchedBy = orders.flatMap(({ group, positive = [], where }) => [group, where, ...positive])
    for (const [name, field] of Object.entries(index.fields)) {
      const [searched, sorted] = [searchedBy.includes(name), sortedBy.includes(name)]
      if (!(name in common) && (searched || sorted)) properties[name] = toProperty({ ...field, searched, sorted })
    }
  }
  const sort = { field: SORT.map(([field]) => field), order: SORT.map(([, direction]) => direction) }
  return createShape(properties, { sort }, { kinds })
}

function hashJson(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}

/** `kinds`: the kinds of documents whose fields are not all mapped. `schema`: that of documents which belong to no chain. */
function createShape(
  properties: Readonly<Record<string, Property>>,
  settings: Readonly<Record<string, unknown>> = {},
  { kinds = [], schema = SCHEMA }: { readonly kinds?: readonly Index[]; readonly schema?: number } = {},
): IndexShape {
  const fixed = { number_of_shards: 1, refresh_interval: '-1', ...settings }
  const fingerprint = hashJson([schema, fixed, properties, ...kinds])
  return {
    settings: { index: fixed },
    mappings: { dynamic: kinds.length === 0 ? 'strict' : 'false', _meta: { schema, fingerprint }, properties },
  }
}

export const stateShapes = { state: createStateShape(), series: toShape(series) } as const

/** Checkpoint and published height, found by id. */
export const metaShape = createShape({ body: storedOnly })

/** The schema of keys and their usage, which stay where they are when the documents of the chain change. */
const OF_KEYS = { schema: 1 }

export const keysShape = createShape(
  {
    hash: storedOnly,
    name: storedOnly,
    perSecond: { type: 'long', index: false, doc_values: false },
    perDay: { type: 'long', index: false, doc_values: false },
    created: { type: 'long', index: false },
    expires: { type: 'long', index: false, doc_values: false },
    revoked: { type: 'long', index: false, doc_values: false },
  },
  {},
  OF_KEYS,
)

/** Requests by key, one document per day and process: [key, requests, time of the last request]. */
const usageFields: Readonly<Record<string, Property>> = {
  day: { type: 'long' },
  process: { type: 'keyword' },
  body: storedOnly,
}
export const usageShape = createShape(usageFields, {}, OF_KEYS)

/**
 * Identifies the indices of history and state that this program creates; it may be unable to read those of another edition.
 * No document of the other indices follows from the chain.
 */
export const EDITION = hashJson([
  DERIVATION,
  ...[...historyIndices.map(toShape), ...Object.values(stateShapes)].map(({ mappings }) => mappings._meta.fingerprint),
])

export type WantedIndex = {
  /** Name without prefix, generation and partition. */
  readonly of: string
  readonly name: string
  readonly alias: string
  readonly into: string
  readonly shape: IndexShape
  readonly from?: number
}

/** Every index of a store but `usage`, with its alias and shape; history in its partitions. */
export function listWantedIndices(names: Names, partitions: PartitionStarts = FIRST_PARTITION): readonly WantedIndex[] {
  const toWanted = (of: string, shape: IndexShape): WantedIndex => {
    const own = names.own(of)
    return { of, name: names.behind(of), alias: own, into: own, shape }
  }
  return [
    ...historyIndices.flatMap(index =>
      partitions.map((from, partition) => ({
        of: index.name,
        name: names.partition(index, partition),
        alias: names.own(index.name),
        into: names.intoPartition(index, partition),
        shape: toShape(index),
        from,
      })),
    ),
    ...STATE_INDICES.map(name => toWanted(name, stateShapes[name])),
    toWanted('meta', metaShape),
    // API keys do not belong to a generation of documents.
    ...(names.building ? [] : [{ ...toWanted('keys', keysShape), alias: names.keys, into: names.keys }]),
  ]
}
