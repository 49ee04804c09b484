import { Failure, getErrorMessage } from '#failure/failure.ts'
import type { ElasticAuth, ElasticResponse, Request } from './request.ts'

/** Path endings of document reads; other requests choose no copies and refuse the parameter. */
const OF_COPIES = /.\/(?:_search|_count|_doc\/[^/]+)$|^\/_mget$/

/** Searches of one request that must see the same copy have the same preference, of any kind. */
const OWN_PREFERENCE = /^(\{.*"preference":)("[^"]*")/

/**
 * Variants of a read that prefer or require copies on certain nodes, to be tried in order. Most reads take
 * any of these nodes, and others if none of them has a copy. Searches that must all see the same copy are
 * tried on each node separately. A read of specific copies is unchanged, and so are requests that choose no
 * copies, such as searches at a point in time.
 *
 * @param nodes ids; if empty, copies on the node that gets the request are preferred
 */
export function preferNodes(read: Request, nodes: readonly string[]): readonly Request[] {
  const { path, query, lines, isOfNamedCopies } = read
  const preference = nodes.length === 0 ? '_local' : `_prefer_nodes:${nodes.join(',')}`
  if (path === '/_msearch' && lines !== undefined) {
    // Either all searches have a preference, or none.
    if (!OWN_PREFERENCE.test(lines)) return [{ ...read, lines: setPreferences(lines, preference) }]
    if (isOfNamedCopies) return [read]
    return [...nodes.map(node => ({ ...read, lines: setPreferences(lines, `_only_nodes:${node}`) })), read]
  }
  return [OF_COPIES.test(path) ? { ...read, query: { ...query, preference } } : read]
}

/** Each search has two lines, the first of which contains the preference. */
function setPreferences(lines: string, preference: string): string {
  const text = JSON.stringify(preference)
  const set = (line: string): string =>
    OWN_PREFERENCE.test(line)
      ? line.replace(OWN_PREFERENCE, (_, before: string) => before + text)
      : `{"preference":${text},${line.slice(1)}`
  return lines
    .split('\n')
    .map((line, at) => (at % 2 === 0 && line !== '' ? set(line) : line))
    .join('\n')
}

/** Maximum size of an answer; pages and parts of scans have some MB. */
const MAX_BYTES = 96 * 1024 * 1024
/** Bytes of each answer that always have room. */
const FREE_BYTES = 1024 * 1024
/** Maximum size of all answers that this process receives at once, beyond the free bytes of each. */
const MAX_BYTES_AT_ONCE = 96 * 1024 * 1024
let bytesAtOnce = 0
const UTF8 = new TextDecoder()

/**
 * The text of an answer. A server may lie about its size: what this process keeps of all answers is bounded. After an
 * error the rest is not read, and the caller ends the request.
 */
async function readAnswer(response: Response): Promise<string> {
  const { headers, body } = response
  const coding = headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity') throw new Error(`The answer is compressed as '${coding}', which was not asked for`)
  const length = headers.get('content-length')
  if (Number(length) > MAX_BYTES) throw new Error(`The answer has ${length} bytes`)
  if (body === null) return ''
  // The runtime reads no more than the length, in half the time.
  if (length !== null && Number(length) <= FREE_BYTES) return response.text()
  const parts: Uint8Array[] = []
  let [held, counted] = [0, 0]
  try {
    for await (const part of body as ReadableStream<Uint8Array>) {
      parts.push(part)
      // A part takes some bytes by itself: a server may send single bytes.
      held += part.length + 256
      if (held > MAX_BYTES) throw new Error(`The answer has more than ${MAX_BYTES} bytes`)
      const more = Math.max(0, held - FREE_BYTES) - counted
      if (bytesAtOnce + more > MAX_BYTES_AT_ONCE)
        throw new Error(`The answers to all requests have more than ${MAX_BYTES_AT_ONCE} bytes`)
      counted += more
      bytesAtOnce += more
    }
  } finally {
    bytesAtOnce -= counted
  }
  const [only] = parts
  // Most answers arrive in one part.
  return UTF8.decode(only !== undefined && parts.length === 1 ? only : Buffer.concat(parts))
}

export class NoResponse extends Error {}

/** The server's certificate is not accepted, or the server speaks no TLS. */
class TlsFault extends NoResponse {}

/** The answer did not arrive within the limits. */
export class RequestTimeout extends Error {}

/**
 * Statuses of servers that do not know the path, such as a proxy that cannot reach Elasticsearch for a moment: a reader
 * would take such a 404 for a missing document. Other statuses, such as 503, are known to be temporary.
 */
const ANSWERS_OF_OTHERS: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 415, 501])

/**
 * Options that the runtime has without a word in its types. Proxies in the environment are not for a database (a test holds
 * it), and a merge takes hours, while the runtime would end a request after some minutes without an answer.
 */
const UNLIMITED: object = { proxy: false, timeout: false }

/** A host of a cluster. Its connections are kept by the runtime. */
export class Host {
  readonly url: string
  /** Id of its node, found by probes; absent behind an address of several servers, or without the privilege. */
  node: string | undefined
  private readonly headers: Readonly<Record<string, string>>
  private readonly options: BunFetchRequestInit
  /** Requests that may begin; `waiting` are those that may not. */
  private free: number
  private readonly waiting: (() => void)[] = []
  isKnown = false

  /** `ca`: PEM text; undefined: the CAs of the system. More than `maxSockets` concurrent requests wait. */
  constructor(
    url: URL,
    { auth, ca, maxSockets }: { auth: ElasticAuth | undefined; ca: string | undefined; maxSockets: number },
  ) {
    this.url = url.href.replace(/(?<!\/)\/+$/, '')
    this.headers = { accept: 'application/json', 'accept-encoding': 'identity', ...formatAuth(auth) }
    this.options = { ...UNLIMITED, redirect: 'manual', decompress: false, ...(ca === undefined ? {} : { tls: { ca } }) }
    this.free = maxSockets
  }

  /**
   * Sends a request; any status is an answer. Throws `NoResponse`; 'usage' if another server answers, or 'unavailable' if
   * the host was Elasticsearch before.
   */
  async send(request: Request, signal: AbortSignal): Promise<ElasticResponse> {
    if (this.free > 0) this.free -= 1
    else await new Promise<void>(go => this.waiting.push(go))
    try {
      signal.throwIfAborted()
      const { status, text, isElastic } = await this.exchange(request, signal)
      if (!isElastic && (status < 300 || ANSWERS_OF_OTHERS.has(status)))
        throw new Failure(this.isKnown ? 'unavailable' : 'usage', `The server at ${this.url} is not Elasticsearch.`, {
          help: 'Set --store to the URL of an Elasticsearch of version 8.19 or 9.',
        })
      this.isKnown ||= status < 300
      return { status, text }
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.free += 1
      else next()
    }
  }

  /** Like `send`, at once even while others wait, and any server may answer. */
  async exchange(request: Request, signal: AbortSignal): Promise<ElasticResponse & { isElastic: boolean }> {
    const { method, lines, body = lines } = request
    const type = lines === undefined ? 'application/json' : 'application/x-ndjson'
    // On a kept connection that ends, the runtime would send a PUT or DELETE again, which may have been carried out.
    const keepalive = method === 'GET' || method === 'POST'
    const headers = body === undefined ? this.headers : { ...this.headers, 'content-type': type }
    try {
      const url = this.url + formatTarget(request)
      const response = await fetch(url, { ...this.options, method, headers, body, signal, keepalive })
      const isElastic = response.headers.get('x-elastic-product') === 'Elasticsearch'
      return { status: response.status, text: await readAnswer(response), isElastic }
    } catch (error) {
      throw toNoResponse(error)
    }
  }
}

function formatAuth(auth: ElasticAuth | undefined): Readonly<Record<string, string>> {
  if (auth === undefined) return {}
  if ('apiKey' in auth) return { authorization: `ApiKey ${auth.apiKey}` }
  return { authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` }
}

/** The path with the query, as it is sent. Throws 'usage' on a path that the URL standard would shorten. */
function formatTarget({ path, query }: Request): string {
  if (path.includes('/.') && /\/\.{1,2}(?:\/|$)/.test(path))
    throw new Failure('usage', `Elasticsearch has nothing at ${path}: no name or id is '.' or '..'.`)
  const target = /[^!-~]/.test(path) ? encodeURI(path) : path
  if (query === undefined) return target
  // Joined by hand: `URLSearchParams` takes a tenth of the time of a small request.
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${target}?${pairs.join('&')}`
}

/** Codes of certificates that are not accepted, and of servers that speak no TLS. */
const OF_TLS = /CERT|_SSL_|_TLS_|_CA$|^(?:UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|INVALID_PURPOSE|PATH_LENGTH|EPROTO$)/

function toNoResponse(error: unknown): unknown {
  if (error instanceof Failure) return error
  const { code } = error as { readonly code?: unknown }
  // The runtime adds the URL, and advice about its own options.
  const message = getErrorMessage(error).replace(/ fetching "[^"]*"|[.?]? For more information, pass .*$|[.?]$/gs, '')
  return typeof code === 'string' && OF_TLS.test(code) ? new TlsFault(message) : new NoResponse(message)
}

/** The Failure for a request without an answer. `isKnown`: whether the cluster has answered before. */
export function toHostFailure(
  error: unknown,
  { url }: Host,
  { method, path, timeoutMs, isKnown }: Request & { readonly timeoutMs: number; readonly isKnown: boolean },
): unknown {
  if (error instanceof Failure) return error
  if (error instanceof TlsFault)
    return new Failure('unavailable', `Elasticsearch at ${url} cannot be reached by TLS: ${error.message}.`, {
      // A certificate may be renewed while a cluster is in use; before its first answer the settings are wrong.
      retryable: isKnown,
      help: 'Set --store-ca to the PEM file of the authority that signed the certificate, and use a host name that the certificate has. A server without TLS needs http:// in --store.',
    })
  const reason =
    error instanceof RequestTimeout
      ? `did not respond to ${method} ${path} within ${timeoutMs} ms`
      : `cannot be reached: ${getErrorMessage(error)}`
  // No cause: errors of the runtime may carry the request with its headers.
  return new Failure('unavailable', `Elasticsearch at ${url} ${reason}.`)
}
