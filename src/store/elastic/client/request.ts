import { BaseConnection, Client, CloudConnectionPool, type TransportRequestOptions } from '@elastic/elasticsearch'
import { parseJson } from '#chain/json.ts'
import { Failure, type FailureKind, getErrorMessage } from '#failure/failure.ts'

export type ElasticAuth = { readonly username: string; readonly password: string } | { readonly apiKey: string }

export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
  /** Lines of JSON text, each ended by a line feed. */
  readonly lines?: string
  /** The request is about the copies that its searches name: no others are read, even if the host is left out. */
  readonly isOfNamedCopies?: true
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

export type ElasticResponse = { readonly status: number; readonly text: string }

/** The only way in which the program reaches the server. */
export type ElasticConnection = {
  readonly url: string
  /** Name of the user, for messages; never the password. */
  readonly user: string
  /**
   * Sends a request once; a read that is late is sent to another host of the cluster, too. The hosts take turns; a
   * host that does not answer is left out until it answers a probe. Every HTTP status is an answer. Throws 'unavailable' when there is no answer
   * (the request may or may not have been carried out), and 'deadline' when `signal` aborts.
   */
  send(request: Request): Promise<ElasticResponse>
  /** Requests under way and later requests fail with 'unavailable'. */
  close(): Promise<void>
}

/** A document by its id and its index or an alias of the index. */
export type Ref = { readonly index: string; readonly id: string }

/** The write that last changed a document, for compare-and-set. */
export type SeqNo = { readonly seqNo: number; readonly primaryTerm: number }

const READS = /(?:^|\/)_(?:search|msearch|mget|count|terms_enum)$/

/** Whether a request changes nothing, so that it may be sent twice and to several hosts at once. */
export function isReading({ method, path }: Pick<Request, 'method' | 'path'>): boolean {
  return method === 'GET' || (method === 'POST' && READS.test(path))
}

/** An error of Elasticsearch, for a request or for one item of a bulk request. */
export type ElasticError = {
  readonly type?: string
  readonly reason?: string
  readonly index?: string
  readonly caused_by?: { readonly type?: string; readonly reason?: string }
  readonly root_cause?: readonly { readonly type?: string; readonly reason?: string }[]
}

/** The error in an answer's body; {} if it has none. */
export function parseError(answer: ElasticResponse): ElasticError {
  try {
    // Errors have some hundred texts, brackets and commas; those of a bulk request are read elsewhere.
    const body = parseJson(answer.text, 100_000) as { error?: unknown }
    if (typeof body.error === 'string') return { reason: body.error }
    return typeof body.error === 'object' && body.error !== null ? body.error : {}
  } catch {
    return { reason: answer.text.slice(0, 200) }
  }
}

/** Whether a later attempt may succeed: overload, or a node that starts or leaves. */
export function isTransient(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504
}

/** The request is larger than Elasticsearch, or a proxy in front of it, accepts. */
export const TOO_LARGE = 413

export function isMissingIndex(failure: unknown): boolean {
  return failure instanceof Failure && failure.details['type'] === MISSING_INDEX
}

export const MISSING_INDEX = 'index_not_found_exception'
const CLOSED_INDEX = 'index_closed_exception'
/** The disk is above the flood stage, or the index was set read-only by hand. */
export const BLOCKED = 'cluster_block_exception'

/**
 * Reason of a refused write to the served alias after a migration: the new generation is written under its own alias.
 */
export const NO_WRITE_INDEX = 'no write index is defined for alias'

export function formatReason(error: ElasticError): string {
  const inner = error.caused_by?.reason ?? error.root_cause?.[0]?.reason
  const parts = [error.reason ?? error.type ?? 'no reason given']
  if (inner !== undefined && inner !== error.reason) parts.push(inner)
  return parts.join(': ').replace(/\s+/g, ' ')
}

/** The server and the purpose of a request; `what` completes "may not" and "refused to": `read balances`. */
export type RequestOrigin = { readonly connection: Pick<ElasticConnection, 'url' | 'user'>; readonly what: string }

export function readFailure(origin: RequestOrigin, answer: ElasticResponse): Failure {
  return toElasticFailure(origin, { status: answer.status, error: parseError(answer) })
}

/** The Failure for an error; `otherwise` is the kind of an unrecognized error. */
export function toElasticFailure(
  { connection: { url, user }, what }: RequestOrigin,
  { status, error }: { readonly status: number; readonly error: ElasticError },
  otherwise: FailureKind = 'unavailable',
): Failure {
  const reason = formatReason(error)
  const { type } = error
  const details = { status, ...(type === undefined ? {} : { type }) }
  const passing = (message: string, help?: string): Failure => new Failure('unavailable', message, { details, help })
  const lasting = (message: string, help: string, kind: FailureKind = 'unavailable'): Failure =>
    new Failure(kind, message, { retryable: false, details, help })
  if (status === 401)
    return lasting(
      `Elasticsearch at ${url} refused ${user}.`,
      "Check the user and password, or the API key, in the settings ('iostlens config').",
    )
  if (status === 400 && reason.startsWith(NO_WRITE_INDEX))
    return passing(
      `A migration has replaced the indices at ${url} (${what}).`,
      'Restart the program; it then uses the new indices.',
    )
  if (type === CLOSED_INDEX)
    return passing(
      `An index at ${url} is closed (${what}): ${reason}.`,
      `Open it: POST /${error.index ?? 'INDEX'}/_open. Waiting programs then continue by themselves.`,
    )
  if (type === MISSING_INDEX)
    return lasting(`${reason} (${what}).`, "Run: 'iostlens indices check', then 'iostlens indices create'.")
  // 503: the cluster has no master, or has not read its state yet.
  if (type === BLOCKED && status !== 503)
    return passing(
      `Elasticsearch blocks ${what}: ${reason}.`,
      'The usual cause is a full disk. Free some space; the block then clears by itself.',
    )
  if (status === 403)
    return lasting(`${user} may not ${what}: ${reason}.`, 'Grant the role the privilege named in the message.')
  if (isTransient(status) || status >= 500) return passing(`Elasticsearch cannot ${what} now (${status}): ${reason}.`)
  if (status === TOO_LARGE)
    return lasting(
      `A request at ${url} is too large to ${what} (413): ${reason}.`,
      'Raise the limit of the proxy in front of Elasticsearch to 16 MB (nginx: client_max_body_size 16m), or http.max_content_length of Elasticsearch.',
    )
  if (status >= 300 && status < 400)
    return lasting(
      `The server at ${url} redirects instead of letting us ${what} (${status}).`,
      'Set --store to the address behind the redirect: Elasticsearch itself sends none.',
    )
  // Our reads are valid for our indices, so an index that refuses one is foreign or damaged.
  const message = `Elasticsearch at ${url} refused to ${what} (${status}): ${reason}.`
  return lasting(message, "Run: 'iostlens indices check'.", otherwise)
}

export type NamedRequest = Omit<Request, 'method'> & {
  /** Absent: POST with a body, else GET. */
  readonly method?: Request['method']
  /** Name of the request in messages, after "may not" and "refused to": `read balances`. */
  readonly what: string
  /** Error statuses that count as answers, such as 404 for a document. */
  readonly acceptedStatuses?: readonly number[]
}

/**
 * A search of indices, given by comma-separated names. `more` may contain a signal, a time limit and further
 * parameters. A search with a failed shard counts as a failure.
 */
export function toSearch(
  indices: string,
  body: object,
  { query, ...more }: Pick<NamedRequest, 'query' | 'signal' | 'timeoutMs'> = {},
): NamedRequest {
  return {
    ...more,
    what: `search ${indices}`,
    path: `/${indices}/_search`,
    query: { ...WHOLE, ...query },
    body: JSON.stringify({ track_total_hits: false, ...body }),
  }
}

export const WHOLE = { allow_partial_search_results: 'false' }

/** Sends a request that is safe to repeat and returns the parsed answer; throws a Failure on anything but success. */
export function requestJson<T>(connection: ElasticConnection, request: NamedRequest): Promise<T> {
  return requestParsed(connection, request, ({ text }, origin) =>
    requireValid(origin, parseAnswer<T>(origin, text), value => typeof value === 'object'),
  )
}

/** Like `requestJson`, for a search: its hits, each with an id. */
export function requestHits<H extends { readonly _id: string }>(
  connection: ElasticConnection,
  request: NamedRequest,
): Promise<readonly H[]> {
  return requestParsed(connection, request, ({ text }, origin) => parseHits<H>(origin, text))
}

/** Like `requestJson`, with the unparsed answer. */
export function requestText(connection: ElasticConnection, request: NamedRequest): Promise<ElasticResponse> {
  return requestParsed(connection, request, answer => answer)
}

/** Like `requestJson`, with the result of `read`, whose errors may also lead to a retry. */
export async function requestParsed<T>(
  connection: ElasticConnection,
  request: NamedRequest,
  read: (answer: ElasticResponse, origin: RequestOrigin) => T,
): Promise<T> {
  for (let attempt = 0; ; attempt++)
    try {
      return read(await requestOnce(connection, request), { connection, what: request.what })
    } catch (error) {
      await pauseBeforeRetry(error, attempt)
    }
}

/** The hits of a search in the text of its answer. Throws 'unavailable'. */
export function parseHits<H extends { readonly _id: string }>(origin: RequestOrigin, text: string): readonly H[] {
  const answer = parseAnswer<{ readonly hits?: { readonly hits?: readonly H[] } }>(origin, text)
  return requireValid(
    origin,
    answer?.hits?.hits,
    hits => Array.isArray(hits) && hits.every(hit => typeof hit?._id === 'string'),
  )
}

/** Like `requestText` without retries: for callers that look for errors in the answer and repeat the whole read. */
export async function requestOnce(connection: ElasticConnection, request: NamedRequest): Promise<ElasticResponse> {
  const { body, lines, what, acceptedStatuses } = request
  const answer = await connection.send({ method: (body ?? lines) === undefined ? 'GET' : 'POST', ...request })
  // A success, or an expected status.
  if (answer.status < 300 || acceptedStatuses?.includes(answer.status)) return answer
  throw readFailure({ connection, what }, answer)
}

/** Pauses before a failed read is retried; rethrows the error unless it is temporary. */
export async function pauseBeforeRetry(error: unknown, attempt: number): Promise<void> {
  // The server may just have closed a kept connection, or a queue was full.
  const again = [30, 200][attempt]
  const isPassing = error instanceof Failure && error.kind === 'unavailable' && error.retryable
  if (again === undefined || !isPassing) throw error
  await Bun.sleep(again)
}

/**
 * The body of an answer as JSON. Text that is not JSON comes from a proxy or a damaged server: a retryable
 * failure, not our bug.
 */
export function parseAnswer<T>(
  origin: RequestOrigin,
  text: string,
  parse: (text: string) => unknown = text => parseJson(text),
): T {
  try {
    return parse(text) as T
  } catch (error) {
    throw createMalformed(origin, `it is not JSON: ${getErrorMessage(error)}`)
  }
}

/** The value if it is valid; throws 'unavailable' otherwise. */
export function requireValid<T>(
  origin: RequestOrigin,
  value: T | undefined | null,
  holds: (value: T) => boolean = () => true,
): T {
  if (value === undefined || value === null || !holds(value))
    throw createMalformed(origin, 'required fields are missing')
  return value
}

function createMalformed({ connection: { url }, what }: RequestOrigin, problem: string): Failure {
  return new Failure('unavailable', `The response of Elasticsearch at ${url} is invalid (${what}): ${problem}.`, {
    help: 'Check whether there is a proxy in front of Elasticsearch, and check the logs of both.',
  })
}

type TypedCall = Pick<NamedRequest, 'what' | 'signal' | 'timeoutMs' | 'acceptedStatuses'>

const clients = new WeakMap<ElasticConnection, Client>()

/**
 * Sends a request by the official client's typed API as `requestJson` does, over the same connection. For rare requests:
 * the client takes longer than the connection itself.
 */
export function callTyped<T>(
  connection: ElasticConnection,
  calling: TypedCall,
  request: (client: Client, options: TransportRequestOptions) => Promise<T>,
): Promise<T> {
  const client = clients.get(connection) ?? openClient(connection)
  clients.set(connection, client)
  return request(client, { context: calling })
}

/** `CloudConnectionPool` has one address, which it never gives up: hosts are the connection's own matter. */
function openClient(connection: ElasticConnection): Client {
  class Carrier extends BaseConnection {
    override async request(...asked: Parameters<BaseConnection['request']>): Promise<never> {
      const [{ method, path, querystring, body }, { context }] = asked
      const answer = await requestJson(connection, {
        ...(context as TypedCall),
        method: method as Request['method'],
        path: querystring ? `${path}?${querystring}` : path,
        ...(typeof body === 'string' && body !== '' ? { body } : {}),
      })
      // Without a content type the client passes the answer on as it is. Its types know texts only.
      return { statusCode: 200, headers: { 'x-elastic-product': 'Elasticsearch' }, body: answer } as never
    }

    override async close(): Promise<void> {}
  }
  const options = { Connection: Carrier, ConnectionPool: CloudConnectionPool, maxRetries: 0 }
  return new Client({ node: 'http://elasticsearch', ...options })
}
