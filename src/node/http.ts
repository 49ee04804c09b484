import { lookup } from 'node:dns/promises'
import type { ArchiveAnswer, ArchiveCall } from '#archive/answers.ts'
import { buildAuthorization } from '#archive/folder.ts'
import { Failure } from '#failure/failure.ts'
import { ACCEPTED_CODING, fetchPeer, readBody, UnreadBody } from '#peer/fetch-peer.ts'
import type { Clock } from '#time/clock.ts'
import { joinSignals } from '#time/deadline.ts'
import type { NodeResponse } from './port.ts'

/** Memory reserved for one answer. */
export type MemoryReservation = {
  /** Reserves `bytes` more; false: there is no room for them. */
  grow(bytes: number): boolean
  /** Releases all reserved bytes; a second call has no effect. */
  release(): void
}

/** Limits the memory of all answers that are passed on at the same time. */
export type Budget = { reserve(): MemoryReservation }

/**
 * Bytes of each answer that always have room. The number of answers is limited elsewhere, and small answers
 * must not wait for large ones.
 */
const FREE_BYTES = 256 * 1024

/** A budget of `maxBytes`. */
export function createBudget(maxBytes: number): Budget {
  let held = 0
  return {
    reserve: () => {
      let own = 0
      const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES)
      return {
        grow: bytes => {
          const more = counted(own + bytes) - counted(own)
          if (held + more > maxBytes) return false
          held += more
          own += bytes
          return true
        },
        release: () => {
          held -= counted(own)
          own = 0
        },
      }
    },
  }
}

/** The address of a node. */
export type Endpoint = {
  /** URL without user and password, for messages. */
  readonly name: string
  /** URL to which paths are appended, without credentials and without a trailing slash. */
  readonly base: string
  /** The `Authorization` header if the URL has user and password. */
  readonly headers: Readonly<Record<string, string>>
  /** Set for an archive of blocks, which answers in place of a server. */
  readonly answers?: (call: ArchiveCall, most: number) => Promise<ArchiveAnswer | 'too_large'>
}

const HELP = 'A node URL has the form http(s)://[user:password@]host[:port][/path].'

/**
 * Parses a node's URL. The given text never appears in a message, since it may contain a password. Throws
 * Failure 'usage'.
 */
export function parseEndpoint(text: string): Endpoint {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Failure('usage', 'A node URL must begin with http:// or https://.', { help: HELP })
  if (url.search !== '' || url.hash !== '')
    throw new Failure('usage', `Node URL ${url.origin}${url.pathname} has a query or fragment, which is not allowed.`, {
      help: HELP,
    })
  const base = `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`
  return { name: base, base, headers: buildAuthorization(url) }
}

/**
 * Throws Failure 'unavailable' if no host name of the nodes exists. This is often a typing error, so it is reported at
 * once; but a name may also exist a little later, as that of a service that starts. A name server that does not answer
 * proves nothing about a name.
 */
export async function requireKnownHosts(urls: readonly string[]): Promise<void> {
  // An archive that does not exist is reported when it is opened.
  if (urls.some(url => url.startsWith('archive:'))) return
  const hosts = urls.map(url => new URL(url).hostname.replace(/^\[|\]$/g, ''))
  const exist = await Promise.all(
    hosts.map(host =>
      lookup(host).then(
        () => true,
        error => error.code !== 'ENOTFOUND',
      ),
    ),
  )
  if (exist.includes(true)) return
  throw new Failure('unavailable', `The host name in --node is unknown: ${hosts.join(', ')}.`, {
    help: 'Check --node (IOSTLENS_NODE). An example is http://127.0.0.1:30001.',
  })
}

export type HttpRequest = {
  /** Begins with a slash. */
  readonly path: string
  /** JSON; its presence makes the request a POST. */
  readonly body?: string
}
export type HttpLimits = {
  /** Time limit from the first byte sent to the last one received. */
  readonly timeoutMs: number
  /** Size limit of the body after decompression. */
  readonly maxBytes: number
}

export type HttpContext = {
  readonly limits: HttpLimits
  readonly clock: Clock
  /** Aborts the request. */
  readonly signal: AbortSignal
  /** Absent: the caller limits the memory of answers. */
  readonly budget?: Budget
  /** Called when the request ends. */
  readonly onCall?: ((call: NodeCall) => void) | undefined
  /** An earlier request for the same question failed or is slow. */
  readonly isRetry?: boolean
}

/** A completed request to a node. */
export type NodeCall = {
  /** The first segment of the path, which is the name of the call. */
  readonly name: string
  readonly ms: number
  /** `refused`: 4xx; `trouble`: 429 or 5xx; `cancelled`: the caller no longer needed the answer. */
  readonly outcome: Exclude<HttpOutcome['tag'], 'answer'> | 'ok' | 'refused' | 'trouble' | 'cancelled'
  /** Length of the body. */
  readonly bytes: number
  readonly isRetry: boolean
}

/** The outcome of one request: an answer with any status, or the reason why there is none. */
export type HttpOutcome =
  | {
      readonly tag: 'answer'
      readonly answer: NodeResponse
      readonly retryAfterMs: number | undefined
      /** The memory of the answer; the caller releases it after use. */
      readonly reservation: MemoryReservation
    }
  | { readonly tag: 'timeout' | 'connection' | 'too_large' | 'no_room'; readonly detail: string }

/** The reservation of answers whose memory the caller limits. */
const UNBOUNDED: MemoryReservation = { grow: () => true, release: () => undefined }

/** Abort reason of a timeout, which distinguishes it from an abort by the caller. */
const LATE = 'late'

/** Sends one request to one node (`askUncounted`) and calls `onCall` at its end, except for an archive. */
export async function sendOnce(
  endpoint: Endpoint,
  request: HttpRequest,
  { onCall, isRetry = false, ...means }: HttpContext,
): Promise<HttpOutcome> {
  if (endpoint.answers !== undefined) return await requestArchive(endpoint.answers, request, means)
  const since = means.clock.elapsed()
  let outcome: NodeCall['outcome'] = 'cancelled'
  let bytes = 0
  inProgress += 1
  try {
    const result = await askUncounted(endpoint, request, means)
    outcome = result.tag === 'answer' ? classifyResponse(result.answer) : result.tag
    if (result.tag === 'answer') bytes = result.answer.body.length
    return result
  } finally {
    inProgress -= 1
    onCall?.({ name: request.path.split('/', 2)[1] ?? '', ms: means.clock.elapsed() - since, outcome, bytes, isRetry })
  }
}

/** Requests in progress at all nodes. */
let inProgress = 0
/**
 * Whether so many requests are in progress that slow ones may not be sent twice. Bun sends 256 requests of a process at a
 * time, to nodes and the store together, unless the environment sets another number. The rest is left to the store when
 * nodes hang.
 */
export const isCrowded = (): boolean => inProgress >= 192

/** The outcome of a request to an archive: its chunks are limited in size, and no connection can fail. */
async function requestArchive(
  answers: NonNullable<Endpoint['answers']>,
  request: HttpRequest,
  { limits, signal }: HttpContext,
): Promise<HttpOutcome> {
  if (signal.aborted) throw abortedByCaller(signal)
  const answer = await answers(request, limits.maxBytes)
  if (answer === 'too_large' || answer.body.byteLength > limits.maxBytes)
    return { tag: 'too_large', detail: `the response is over ${limits.maxBytes} bytes` }
  return {
    tag: 'answer',
    answer: { ...answer, contentType: 'application/json' },
    retryAfterMs: undefined,
    reservation: UNBOUNDED,
  }
}

function classifyResponse({ status }: NodeResponse): 'ok' | 'refused' | 'trouble' {
  if (isNodeFault(status)) return 'trouble'
  return status >= 400 ? 'refused' : 'ok'
}

/** Whether the node itself is in trouble, so that another one may answer. */
export const isNodeFault = (status: number): boolean => status >= 500 || status === 429

/**
 * Sends one request to one node. Redirects are not followed; reading stops once an answer exceeds the limit.
 * Throws only Failure 'deadline', when `signal` aborts.
 */
async function askUncounted(
  endpoint: Endpoint,
  request: HttpRequest,
  { limits, clock, signal, budget }: HttpContext,
): Promise<HttpOutcome> {
  if (signal.aborted) throw abortedByCaller(signal)
  const ends = joinSignals(signal)
  const reservation = budget?.reserve() ?? UNBOUNDED
  const turn = createLargePermit(endpoint)
  const cancel = clock.after(limits.timeoutMs, () => ends.abort(LATE))
  const left = (outcome: HttpOutcome): HttpOutcome => {
    ends.abort('left')
    reservation.release()
    return outcome
  }
  try {
    const response = await send(endpoint, request, ends.signal)
    const { status } = response
    const wrong = wrongStatus(status)
    if (wrong !== undefined) return left({ tag: 'connection', detail: wrong })
    const grow = async (bytes: number): Promise<boolean> => reservation.grow(bytes) && (await turn.grow(bytes))
    const body = await readBody(response, { most: limits.maxBytes, grow })
    const answer = { status, contentType: response.headers.get('content-type') ?? undefined, body }
    return { tag: 'answer', answer, retryAfterMs: parseRetryDelay(response), reservation }
  } catch (error) {
    if (error instanceof UnreadBody) return left(toOutcome(error))
    reservation.release()
    if (ends.signal.aborted && ends.signal.reason !== LATE) throw abortedByCaller(ends.signal)
    if (ends.signal.aborted) return { tag: 'timeout', detail: `${SILENT} within ${limits.timeoutMs} ms` }
    return { tag: 'connection', detail: describeLoss(error) }
  } finally {
    turn.leave()
    cancel()
    ends.release()
  }
}

const send = ({ base, headers }: Endpoint, { path, body }: HttpRequest, signal: AbortSignal): Promise<Response> =>
  fetchPeer(`${base}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      'accept-encoding': ACCEPTED_CODING,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    keepalive: true,
    signal,
  })

const toOutcome = ({ reason, message }: UnreadBody): HttpOutcome => ({
  tag: reason === 'coding' ? 'connection' : reason,
  detail: message,
})

/** Larger bodies are received one at a time from each node: a lying node could send many at once. */
const LARGE_BYTES = 2 * 1024 * 1024

/** The last large body that is received from each node. */
const largeBodies = new WeakMap<Endpoint, Promise<void>>()

/** A body's turn among the large ones of its node; small ones need none. */
function createLargePermit(endpoint: Endpoint): { grow(bytes: number): Promise<true>; leave(): void } {
  let held = 0
  let leave: (() => void) | undefined
  return {
    grow: async bytes => {
      held += bytes
      if (held <= LARGE_BYTES || leave !== undefined) return true
      const before = largeBodies.get(endpoint)
      const own = Promise.withResolvers<void>()
      leave = own.resolve
      largeBodies.set(
        endpoint,
        Promise.all([before, own.promise]).then(() => undefined),
      )
      await before
      return true
    },
    leave: () => leave?.(),
  }
}

/** The reason why a response with this status is no answer; undefined: it may be one. */
function wrongStatus(status: number): string | undefined {
  if (status < 200 || status > 599) return `status ${status}, which is not an HTTP status`
  // Partial Content and Not Modified: no request here asks for either.
  return status === 206 || status === 304 ? `status ${status}, which is not a response to the request` : undefined
}

/** The Failure for a request that its caller has cancelled. */
export const abortedByCaller = (signal: AbortSignal): Failure =>
  new Failure('deadline', 'The request to the node was cancelled.', { cause: signal.reason })

/** The node's `Retry-After`, of which a minute is respected. */
function parseRetryDelay(response: Response): number | undefined {
  const seconds = response.headers.get('retry-after') ?? ''
  return /^[0-9]{1,6}$/.test(seconds) ? Math.min(Number(seconds), 60) * 1000 : undefined
}

/** Beginnings of the details of a request that got no answer. */
const SILENT = 'no response'
const UNREACHED = 'no connection'
const NO_TLS = `${UNREACHED} by TLS`
/** Codes of a server whose certificate is not accepted, or that speaks no TLS. */
const TLS_CODES = /CERT|^UNABLE_TO_|^ERR_TLS_|^EPROTO$|^HOSTNAME_MISMATCH$/

/** Whether a detail of an outcome says that the node sent nothing. */
export function isUnanswered(detail: string): boolean {
  return detail.startsWith(SILENT) || detail.startsWith(UNREACHED)
}

/** Whether a detail of an outcome says that no TLS connection can be made. */
export function isTlsFault(detail: string): boolean {
  return detail.startsWith(NO_TLS)
}

/** Names the system's error code (`ConnectionRefused`): messages of fetch may repeat the URL. */
function describeLoss(error: unknown): string {
  const { code, name = 'unknown' } = (error ?? {}) as { readonly code?: unknown; readonly name?: string }
  const known = typeof code === 'string' ? code : name
  return `${TLS_CODES.test(known) ? NO_TLS : UNREACHED} (${known})`
}
