import { Failure } from '#failure/failure.ts'
import type { SeqNo } from '../client/bulk-item.ts'
import type { Connection } from '../client/connection.ts'
import { errorOf, MISSING_INDEX, toFailure } from '../client/failures.ts'
import { type NamedRequest, parseAnswer, requestParsed } from '../client/request-json.ts'
import type { Checkpoint, PublishedMeta } from './checkpoint-record.ts'
import { checkpointOf, publishedOf, stampOf, versionAt } from './checkpoint-record.ts'
import type { ReadCluster } from './cluster.ts'
import { EDITION } from './mappings.ts'
import type { Names } from './names.ts'

const CHECKPOINT = 'checkpoint'
const PUBLISHED = 'published'

const write = (value: object): string =>
  JSON.stringify({
    body: JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item)),
  })

/**
 * The last published record of a connection and its text, cached: it is read a hundred times a second and
 * rarely changes.
 */
const parsed = new WeakMap<Connection, { readonly text: string; readonly meta: PublishedMeta }>()

type Stored = {
  readonly _seq_no: number
  readonly _primary_term: number
  readonly _source: unknown
}

/** undefined: the document or the index does not exist. Other errors, such as missing privileges, throw. */
const read = async (cluster: ReadCluster, id: string): Promise<Stored | undefined> => {
  const text = await readText(cluster, id)
  if (text === undefined) return undefined
  return parseAnswer<Stored>({ connection: cluster.connection, what: `read ${cluster.names.meta}` }, text)
}

const readText = (
  { connection, names }: ReadCluster,
  id: string,
  signal?: AbortSignal,
): Promise<string | undefined> => {
  const what = `read ${names.meta}`
  const request: NamedRequest = {
    ...{ what, method: 'GET', path: `/${names.meta}/_doc/${id}`, signal },
    acceptedStatuses: [404],
  }
  return requestParsed(connection, request, answer => {
    if (answer.status !== 404) return answer.text
    const error = errorOf(answer)
    if (error.type !== undefined && error.type !== MISSING_INDEX)
      throw toFailure({ connection, what }, { status: 404, error })
    return undefined
  })
}

/** The record that readers use; the same object while its text is the same. undefined: none is published yet. */
export const readPublished = async (cluster: ReadCluster, signal?: AbortSignal): Promise<PublishedMeta | undefined> => {
  const { connection, names } = cluster
  const text = await readText(cluster, PUBLISHED, signal)
  if (text === undefined) return undefined
  const last = parsed.get(connection)
  if (last?.text === text) return last.meta
  const stored = parseAnswer<Stored>({ connection, what: `read ${names.meta}` }, text)
  const meta = publishedOf(stored._source)
  if (meta === undefined) throw unreadable(cluster, PUBLISHED)
  parsed.set(connection, { text, meta })
  return meta
}

/** Like `readPublished`, for a repair; undefined also for an unreadable document. */
export const readablePublished = async (cluster: ReadCluster): Promise<PublishedMeta | undefined> => {
  const stored = await read(cluster, PUBLISHED)
  return stored === undefined ? undefined : publishedOf(stored._source)
}

/** Text and version of the published document. Versions only grow, so a late writer cannot revert a height. */
export const publishedDoc = (meta: Omit<PublishedMeta, 'edition'>) => ({
  id: PUBLISHED,
  version: versionAt(stampOf(meta)),
  source: write({ ...meta, edition: EDITION }),
})

export const readCheckpoint = async (
  cluster: ReadCluster,
): Promise<(SeqNo & { readonly checkpoint: Checkpoint }) | undefined> => {
  const found = await findCheckpoint(cluster)
  if (found === undefined) return undefined
  const { checkpoint, ...seen } = found
  if (checkpoint === undefined) throw unreadable(cluster, CHECKPOINT)
  return { ...seen, checkpoint }
}

/** Like `readCheckpoint`, for a repair: an unreadable document has no `checkpoint`. */
export const findCheckpoint = async (
  cluster: ReadCluster,
): Promise<(SeqNo & { readonly checkpoint: Checkpoint | undefined }) | undefined> => {
  const stored = await read(cluster, CHECKPOINT)
  if (stored === undefined) return undefined
  const { _seq_no: seqNo, _primary_term: primaryTerm, _source } = stored
  return { seqNo, primaryTerm, checkpoint: checkpointOf(_source) }
}

/** The remedy for a damaged record of the store. */
export const restoreHelp = ({ meta }: Names): string =>
  `Run: 'iostlens repair --node URL'. Or restore ${meta} from a snapshot.`

const unreadable = ({ connection: { url }, names }: ReadCluster, id: string): Failure =>
  new Failure('damaged', `Document '${id}' of ${names.meta} at ${url} is unreadable or invalid.`, {
    help: restoreHelp(names),
  })

/** Path, query and body of the compare-and-set; `expected` undefined: no checkpoint may exist yet. */
export const checkpointRequest = (names: Names, checkpoint: Checkpoint, expected: SeqNo | undefined) => ({
  method: 'PUT' as const,
  path: `/${names.meta}/_doc/${CHECKPOINT}`,
  query: {
    // Keeps a write from recreating a deleted index with a guessed mapping.
    require_alias: 'true',
    ...(expected === undefined
      ? { op_type: 'create' }
      : { if_seq_no: String(expected.seqNo), if_primary_term: String(expected.primaryTerm) }),
  },
  body: write(checkpoint),
})
