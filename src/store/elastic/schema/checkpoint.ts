import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { RUN_REPAIR } from '#store/failures.ts'
import type { Filling, Published } from '#store/port.ts'
import { isCount, isHeight, type Members, parsePublishedRecord, toMembers } from '#store/published.ts'
import type { ElasticConnection, SeqNo } from '../client/request.ts'
import { MISSING_INDEX, parseAnswer, parseError, requestParsed, toElasticFailure } from '../client/request.ts'
import { EDITION } from './mappings.ts'
import type { Generations, Names, PartitionStarts, ReadCluster } from './names.ts'

/** The last document that was written to an index, and its version; a document of history has version 1. */
export type LastDocument = readonly [id: string, version: number]

/** By name of index; absent: nothing was written to the index yet. */
export type LastDocuments = Readonly<Record<string, LastDocument>>

/** The UUID of an index and the number of documents that belong in it; absent: not counted. */
export type IndexContent = readonly [uuid: string, documents?: number]

/** All indices of a store after a batch. */
export type Inventory = {
  /** Name of the batch, see `getInventory`. */
  readonly batch: string
  /** By name of index. */
  readonly indices: Readonly<Record<string, IndexContent>>
  /** The documents that a copy of each index must show to be used. */
  readonly last: LastDocuments
}

/** The end of the stored chain, and the loader with the lease; one document, changed only by compare-and-set. */
export type Checkpoint = {
  readonly schema: number
  readonly chainId: number
  readonly genesis: string
  readonly derivation: number
  /** Random name of the loader that has the lease; `""`: none. */
  readonly owner: string
  /** Time of the last renewal of the lease, milliseconds since 1970. */
  readonly renewed: number
  /** Random name of this write: after an unclear answer it shows whether the write was carried out. */
  readonly write: string
  readonly partitions: PartitionStarts
  readonly generations: Generations
  /** The generation by which a migration is replacing these indices; no process may write them any more. */
  readonly retired?: number | undefined
  readonly filling: Filling
  /**
   * End of the last announced batch: all its history is stored, and its state may be on its way. It is published when its
   * state is stored as well.
   */
  readonly end?: Published | undefined
  /** Random name of the last announced batch; `""`: none. */
  readonly batch: string
  /**
   * Name of the batch before it, which was published; `""`: none. Absent if all state was stored before this checkpoint: by
   * a repair, or because the announced batch was abandoned and this one had been published before.
   */
  readonly from?: string | undefined
  /**
   * The height and the partition of a batch that was announced and then abandoned, because the next loader's file lacks its
   * state and the store does not have all of it; of several, the highest. Some documents of state may be of this height, so
   * the next batch must not end below it. Its history stays in its partition. Absent: there is none.
   */
  readonly floor?: { readonly height: number; readonly partition: number } | undefined
  /** Raised when heights go back, so that stamps never do. Absent: 0. */
  readonly epoch?: number | undefined
  /** A repair is unfinished: the store must not be read or loaded. */
  readonly mending?: true | undefined
  /**
   * Random name of the state, which each loader's file has, too. It is removed when documents change otherwise than by a
   * batch, so that each such file is filled anew.
   */
  readonly state?: string | undefined
  /** All indices of the store; absent before a loader has counted them. */
  readonly inventory?: Inventory | undefined
}

/** The record that readers use; `edition`: `EDITION` of the program that published it. */
export type PublishedMeta = Pick<
  Checkpoint,
  'batch' | 'partitions' | 'generations' | 'epoch' | 'mending' | 'inventory'
> & { readonly end: Published; readonly edition: string }

/** Stamps per epoch: more than heights of any chain. */
const STAMPS_PER_EPOCH = 2 ** 40

/**
 * Position of a height in the order of writing. State documents have the stamp of the batch that wrote them. Stamps only
 * grow, even when a repair goes back to a smaller height. What a document is at a stamp follows from the chain alone, so
 * two loaders write the same.
 */
export function toStamp({ end, epoch = 0 }: { end: Pick<Published, 'height'>; epoch?: number | undefined }): number {
  return epoch * STAMPS_PER_EPOCH + end.height
}

/** The stamp of a published end; −1: there is none. */
export function toPublishedStamp(published: Parameters<typeof toStamp>[0] | undefined): number {
  return published === undefined ? -1 : toStamp(published)
}

export function getLastStamp(epoch: number): number {
  return (epoch + 1) * STAMPS_PER_EPOCH - 1
}

export function toEpoch(stamp: number): number {
  return Math.floor(stamp / STAMPS_PER_EPOCH)
}

export function toHeight(stamp: number): number {
  return stamp % STAMPS_PER_EPOCH
}

/** Version of a document with a stamp; versions begin at 1. */
export function toVersion(stamp: number): number {
  return stamp + 1
}

type Inventoried = Pick<Checkpoint, 'batch' | 'inventory'>

/** The inventory of a record; undefined: the store was just created, or a repair wrote the record anew. */
export function getInventory({ batch, inventory }: Inventoried): Inventory | undefined {
  return inventory?.batch === batch ? inventory : undefined
}

/**
 * The documents that every copy of an index must show to be used at a published height. A copy that shows the
 * last document has all documents that were acknowledged before it (`sendInOrder`).
 */
export function getLastDocuments(record: Inventoried): LastDocuments {
  return getInventory(record)?.last ?? {}
}

/** The checkpoint in a document's `_source`; undefined: not a checkpoint. */
export function parseCheckpoint(source: unknown): Checkpoint | undefined {
  const body = parseBody(source)
  if (body === undefined) return undefined
  const { end, ...rest } = body
  const published = end === undefined ? undefined : parsePublishedRecord(end)
  const [filling, floor] = [toMembers(rest['filling']), toMembers(rest['floor'])]
  const whole =
    [rest['schema'], rest['chainId'], rest['derivation'], rest['renewed']].every(isCount) &&
    [rest['owner'], rest['batch']].every(text => typeof text === 'string') &&
    [rest['genesis'], rest['write']].every(text => typeof text === 'string' && text !== '') &&
    [filling?.['partition'], filling?.['documents']].every(isCount) &&
    (rest['retired'] === undefined || isCount(rest['retired'])) &&
    (rest['floor'] === undefined || (isHeight(floor?.['height']) && isCount(floor?.['partition']))) &&
    [rest['from'], rest['state']].every(text => text === undefined || typeof text === 'string') &&
    hasValidCommon(rest)
  if (!whole || (end !== undefined && published === undefined)) return undefined
  // Each member was checked above.
  return { ...rest, ...(published === undefined ? {} : { end: published }) } as Checkpoint
}

/** The published record in a document's `_source`; undefined: not such a record. */
export function parsePublished(source: unknown): PublishedMeta | undefined {
  const body = parseBody(source)
  const end = parsePublishedRecord(body?.['end'])
  const whole = typeof body?.['batch'] === 'string' && typeof body['edition'] === 'string' && hasValidCommon(body)
  return whole && end !== undefined ? ({ ...body, end } as PublishedMeta) : undefined
}

function parseBody(source: unknown): Members | undefined {
  const text = toMembers(source)?.['body']
  return typeof text === 'string' ? toMembers(tryParseJson(text)) : undefined
}

/** Stamps stay below 2^50, so that they are exact as numbers. */
export const MAX_EPOCH = 2 ** 10 - 1

/** Whether the members are valid that both records have. */
function hasValidCommon({ partitions, generations, epoch, mending, inventory }: Members): boolean {
  return (
    Array.isArray(partitions) &&
    partitions[0] === 0 &&
    partitions.every((first, at) => isHeight(first) && (at === 0 || first > partitions[at - 1])) &&
    hasOnly(generations, isCount) &&
    (epoch === undefined || (isCount(epoch) && epoch <= MAX_EPOCH)) &&
    (mending === undefined || mending === true) &&
    (inventory === undefined || isInventory(toMembers(inventory) ?? {}))
  )
}

function isInventory({ batch, indices, last }: Members): boolean {
  const isContent = (value: unknown): boolean =>
    Array.isArray(value) &&
    value.length <= 2 &&
    typeof value[0] === 'string' &&
    (value[1] === undefined || isCount(value[1]))
  const isLast = (value: unknown): boolean => Array.isArray(value) && typeof value[0] === 'string' && isCount(value[1])
  return typeof batch === 'string' && hasOnly(indices, isContent) && hasOnly(last, isLast)
}

function hasOnly(value: unknown, isValid: (member: unknown) => boolean): boolean {
  return toMembers(value) !== undefined && Object.values(value as object).every(isValid)
}

const CHECKPOINT = 'checkpoint'
const PUBLISHED = 'published'

function formatRecord(value: object): string {
  return JSON.stringify({ body: formatBody(value) })
}

/** The content of a checkpoint as text, for the loader's own file; undefined: there is no block yet. */
export function formatContent({ end, partitions, filling, inventory }: Checkpoint): string | undefined {
  return end && formatBody({ end, partitions, filling, inventory })
}

/** undefined: the text is not one of `formatContent`. */
export function parseContent(text: string) {
  const content = toMembers(JSON.parse(text))
  const end = parsePublishedRecord(content?.['end'])
  // Only this program writes the text.
  return end && { ...(content as Pick<Checkpoint, 'partitions' | 'filling' | 'inventory'>), end }
}

/** As JSON, in which a time is a text, because a number would not be exact. */
function formatBody(value: object): string {
  return JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item))
}

/**
 * The last published record of a connection and its text, cached: it is read a hundred times a second and
 * rarely changes.
 */
const parsedRecords = new WeakMap<ElasticConnection, { readonly text: string; readonly meta: PublishedMeta }>()

type StoredRecord = { readonly _seq_no: number; readonly _primary_term: number; readonly _source: unknown }

/** undefined: the document or the index does not exist. Other errors, such as missing privileges, throw. */
export async function readRecord(cluster: ReadCluster, id: string): Promise<StoredRecord | undefined> {
  const text = await readRecordText(cluster, id)
  if (text === undefined) return undefined
  return parseAnswer<StoredRecord>({ connection: cluster.connection, what: `read ${cluster.names.meta}` }, text)
}

function readRecordText(
  { connection, names }: ReadCluster,
  id: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const what = `read ${names.meta}`
  const request = { what, path: `/${names.meta}/_doc/${id}`, signal, acceptedStatuses: [404] }
  return requestParsed(connection, request, answer => {
    if (answer.status !== 404) return answer.text
    const error = parseError(answer)
    if (error.type !== undefined && error.type !== MISSING_INDEX)
      throw toElasticFailure({ connection, what }, { status: 404, error })
    return undefined
  })
}

/** The record that readers use; the same object while its text is the same. undefined: none is published yet. */
export async function readPublished(cluster: ReadCluster, signal?: AbortSignal): Promise<PublishedMeta | undefined> {
  const { connection, names } = cluster
  const text = await readRecordText(cluster, PUBLISHED, signal)
  if (text === undefined) return undefined
  const last = parsedRecords.get(connection)
  if (last?.text === text) return last.meta
  const stored = parseAnswer<StoredRecord>({ connection, what: `read ${names.meta}` }, text)
  const meta = parsePublished(stored._source)
  if (meta === undefined) throw createUnreadable(cluster, PUBLISHED)
  parsedRecords.set(connection, { text, meta })
  return meta
}

/** Like `readPublished`, for a repair; undefined also for an unreadable document. */
export async function tryReadPublished(cluster: ReadCluster): Promise<PublishedMeta | undefined> {
  const stored = await readRecord(cluster, PUBLISHED)
  return stored === undefined ? undefined : parsePublished(stored._source)
}

/** Text and version of the published document. Versions only grow, so a late writer cannot revert a height. */
export function toPublishedDoc(checkpoint: Checkpoint & { readonly end: Published }) {
  const { end, batch, partitions, generations, epoch, mending, inventory } = checkpoint
  const meta: PublishedMeta = { end, batch, partitions, generations, epoch, mending, inventory, edition: EDITION }
  return { id: PUBLISHED, version: toVersion(toStamp(meta)), source: formatRecord(meta) }
}

export async function readCheckpoint(
  cluster: ReadCluster,
): Promise<(SeqNo & { readonly checkpoint: Checkpoint }) | undefined> {
  const found = await findCheckpoint(cluster)
  if (found === undefined) return undefined
  const { checkpoint, ...seen } = found
  if (checkpoint === undefined) throw createUnreadable(cluster, CHECKPOINT)
  return { ...seen, checkpoint }
}

/** Like `readCheckpoint`, for a repair: an unreadable document has no `checkpoint`. */
export async function findCheckpoint(
  cluster: ReadCluster,
): Promise<(SeqNo & { readonly checkpoint: Checkpoint | undefined }) | undefined> {
  const stored = await readRecord(cluster, CHECKPOINT)
  if (stored === undefined) return undefined
  const { _seq_no: seqNo, _primary_term: primaryTerm, _source } = stored
  return { seqNo, primaryTerm, checkpoint: parseCheckpoint(_source) }
}

export function formatRestoreHelp({ meta }: Names): string {
  return `${RUN_REPAIR} Or restore ${meta} from a snapshot.`
}

function createUnreadable({ connection: { url }, names }: ReadCluster, id: string): Failure {
  return new Failure('damaged', `Document '${id}' of ${names.meta} at ${url} is unreadable or invalid.`, {
    help: formatRestoreHelp(names),
  })
}

/** Path, query and body of the compare-and-set; `expected` undefined: no checkpoint may exist yet. */
export function toCheckpointRequest(names: Names, checkpoint: Checkpoint, expected: SeqNo | undefined) {
  return {
    method: 'PUT' as const,
    path: `/${names.meta}/_doc/${CHECKPOINT}`,
    query: {
      // Keeps a write from recreating a deleted index with a guessed mapping.
      require_alias: 'true',
      ...(expected === undefined
        ? { op_type: 'create' }
        : { if_seq_no: String(expected.seqNo), if_primary_term: String(expected.primaryTerm) }),
    },
    body: formatRecord(checkpoint),
  }
}
