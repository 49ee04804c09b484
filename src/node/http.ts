import { Failure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { joinSignals } from '#time/signals.ts'
import type { Budget, Hold } from './budget.ts'
import type { Endpoint } from './endpoint.ts'
import type { NodeAnswer } from './port.ts'

export type HttpRequest = {
  /** Begins with a slash. */
  readonly path: string
  /** JSON; with it the request is a POST. */
  readonly body?: string
}
export type HttpLimits = {
  /** For the whole answer, from the first byte sent to the last one received. */
  readonly timeoutMs: number
  /** Of the body, as it is after decompression. */
  readonly maxBytes: number
}

export type Means = {
  readonly limits: HttpLimits
  readonly clock: Clock
  /** Ends the request. */
  readonly signal: AbortSignal
  /** Absent: the caller bounds the answers. */
  readonly budget?: Budget
  /** Called when the request is over. */
  readonly onCall?: ((call: NodeCall) => void) | undefined
  /** An earlier request of the same question failed or is slow. */
  readonly isRetry?: boolean
}

/** A request to a node that is over. */
export type NodeCall = {
  /** The first part of its path: the name of the call. */
  readonly name: string
  readonly ms: number
  /** `refused`: 4xx; `trouble`: 429 or 5xx; `cancelled`: nobody wanted the answer any more. */
  readonly outcome: Exclude<Outcome['tag'], 'answer'> | 'ok' | 'refused' | 'trouble' | 'cancelled'
  /** Of the body. */
  readonly bytes: number
  readonly isRetry: boolean
}

/** The outcome of one request: an answer with any status, or the reason why there is none. */
export type Outcome =
  | {
      readonly tag: 'answer'
      readonly answer: NodeAnswer
      readonly retryAfterMs: number | undefined
      /** Counts the bytes of the answer; to be released by whoever uses the answer. */
      readonly hold: Hold
    }
  | { readonly tag: 'timeout' | 'connection' | 'too_large' | 'no_room'; readonly detail: string }

/** Of answers that are bounded by who asks for them. */
const UNBOUNDED: Hold = { grow: () => true, release: () => undefined }

/** The reason for ending a request whose answer is no longer read. */
const LEFT = 'left'
/** A part of an answer, and none because it has not changed: no request of ours asks for either. */
const UNASKED: ReadonlySet<number> = new Set([206, 304])
/** The reason of a time-out, which tells it from an abort by the caller. */
const LATE = 'late'

/** One request to one node (`askUncounted`), told of when it is over. */
export const askOnce = async (
  endpoint: Endpoint,
  request: HttpRequest,
  { onCall, isRetry = false, ...means }: Means,
): Promise<Outcome> => {
  if (endpoint.answers !== undefined) return await answerOf(endpoint.answers, request, means)
  if (onCall === undefined) return await askUncounted(endpoint, request, means)
  const since = means.clock.elapsed()
  const note = (outcome: NodeCall['outcome'], bytes: number): void =>
    onCall({ name: nameOf(request), ms: means.clock.elapsed() - since, outcome, bytes, isRetry })
  try {
    const outcome = await askUncounted(endpoint, request, means)
    if (outcome.tag === 'answer') note(outcomeOf(outcome.answer), outcome.answer.body.length)
    else note(outcome.tag, 0)
    return outcome
  } catch (error) {
    note('cancelled', 0)
    throw error
  }
}

/** What an archive of blocks answers: its chunks are bounded, and no connection can fail. */
const answerOf = async (
  answers: NonNullable<Endpoint['answers']>,
  request: HttpRequest,
  { limits, signal }: Means,
): Promise<Outcome> => {
  if (signal.aborted) throw endedByCaller(signal)
  const answer = await answers(request)
  if (answer.body.byteLength > limits.maxBytes)
    return { tag: 'too_large', detail: `the response is over ${limits.maxBytes} bytes` }
  return {
    tag: 'answer',
    answer: { ...answer, contentType: 'application/json' },
    retryAfterMs: undefined,
    hold: UNBOUNDED,
  }
}

const nameOf = ({ path }: HttpRequest): string => path.split('/', 2)[1] ?? ''

const outcomeOf = ({ status }: NodeAnswer): 'ok' | 'refused' | 'trouble' => {
  if (isTrouble(status)) return 'trouble'
  return status >= 400 ? 'refused' : 'ok'
}

/** A node's own trouble: another one may know better. */
export const isTrouble = (status: number): boolean => status >= 500 || status === 429

/**
 * One request to one node. Redirects are not followed; an answer over the limit is cut off while it comes in. Throws
 * only Failure 'deadline' when `signal` aborts.
 */
const askUncounted = async (
  endpoint: Endpoint,
  request: HttpRequest,
  { limits, clock, signal, budget }: Means,
): Promise<Outcome> => {
  if (signal.aborted) throw endedByCaller(signal)
  const ends = joinSignals(signal)
  const hold = budget?.hold() ?? UNBOUNDED
  const cancel = clock.after(limits.timeoutMs, () => ends.abort(LATE))
  const left = (outcome: Outcome): Outcome => {
    ends.abort(LEFT)
    hold.release()
    return outcome
  }
  try {
    const response = await send(endpoint, request, ends.signal)
    const { status } = response
    const wrong = wrongStatus(status)
    if (wrong !== undefined) return left({ tag: 'connection', detail: wrong })
    const body = await readBody(response, limits.maxBytes, hold)
    if (body === 'too_large')
      return left({ tag: body, detail: `the response is over ${limits.maxBytes} bytes` })
    if (body === 'no_room')
      return left({ tag: body, detail: 'responses to other requests use all available memory' })
    const contentType = response.headers.get('content-type') ?? undefined
    return {
      tag: 'answer',
      answer: { status, contentType, body },
      retryAfterMs: retryAfter(response),
      hold,
    }
  } catch (error) {
    hold.release()
    if (ends.signal.aborted && ends.signal.reason !== LATE) throw endedByCaller(ends.signal)
    if (ends.signal.aborted) return { tag: 'timeout', detail: `no response within ${limits.timeoutMs} ms` }
    return { tag: 'connection', detail: `no connection (${codeOf(error)})` }
  } finally {
    cancel()
    ends.release()
  }
}

const send = (
  { base, headers }: Endpoint,
  { path, body }: HttpRequest,
  signal: AbortSignal,
): Promise<Response> =>
  fetch(`${base}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    keepalive: true,
    signal,
  })

/** Why a response with this status answers nothing; undefined: it may. */
const wrongStatus = (status: number): string | undefined => {
  if (status < 200 || status > 599) return `status ${status}, which is not an HTTP status`
  return UNASKED.has(status) ? `status ${status}, which is not a response to the request` : undefined
}

/** The Failure for a call whose caller does not want it any more. */
export const endedByCaller = (signal: AbortSignal): Failure =>
  new Failure('deadline', 'The request to the node was cancelled.', { cause: signal.reason })

/** A node's word on when to come again is believed up to a minute. */
const LONGEST_RETRY_AFTER_S = 60

const retryAfter = (response: Response): number | undefined => {
  const seconds = response.headers.get('retry-after')
  return seconds !== null && /^[0-9]{1,6}$/.test(seconds)
    ? Math.min(Number(seconds), LONGEST_RETRY_AFTER_S) * 1000
    : undefined
}

/** The system's word for what happened (`ConnectionRefused`): messages of fetch may repeat the URL. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}

/**
 * The body of an answer, read within a limit and counted as it comes in; a body over the limit, or without room, is
 * left unread. If the length is given, memory for it is taken at once, so that the bytes are never there twice.
 */
const readBody = async (
  response: Response,
  maxBytes: number,
  hold: Hold,
): Promise<Uint8Array<ArrayBuffer> | 'too_large' | 'no_room'> => {
  if (response.body === null) return new Uint8Array()
  const told = toldLength(response)
  if (told !== undefined && told > maxBytes) return 'too_large'
  return told === undefined ? readParts(response.body, maxBytes, hold) : readInto(response.body, told, hold)
}

/** Length of the body as it will be read; undefined when the header gives another one, or none. */
const toldLength = ({ headers }: Response): number | undefined => {
  const text = headers.get('content-length')
  return text !== null && /^\d{1,15}$/.test(text) && !headers.has('content-encoding')
    ? Number(text)
    : undefined
}

const readInto = async (
  stream: ReadableStream<Uint8Array>,
  length: number,
  hold: Hold,
): Promise<Uint8Array<ArrayBuffer> | 'no_room'> => {
  if (!hold.grow(length)) return 'no_room'
  const body = new Uint8Array(length)
  let at = 0
  for await (const part of stream) {
    // HTTP ends a body at its length.
    body.set(part, at)
    at += part.byteLength
  }
  return at === length ? body : body.slice(0, at)
}

const readParts = async (
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  hold: Hold,
): Promise<Uint8Array<ArrayBuffer> | 'too_large' | 'no_room'> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of stream) {
    bytes += part.byteLength
    if (bytes > maxBytes) return 'too_large'
    // Twice: once in parts, once in one piece.
    if (!hold.grow(2 * part.byteLength)) return 'no_room'
    parts.push(part)
  }
  const body = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    body.set(part, at)
    at += part.byteLength
  }
  return body
}
