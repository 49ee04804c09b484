import { hash } from 'node:crypto'
import type { Options } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import { type Failure, PublicFailure } from '#failure/failure.ts'
import { NothingLoaded } from '#store/failures.ts'
import { codes } from './codes.ts'
import { EMPTY } from './health.ts'

/** A value that is made at the first call and stays the same. */
export function keepFirstResult<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Minimum bytes for gzip: below, it saves less than a packet. */
const GZIP_FROM_BYTES = 1_024
/** Level 1: an answer is compressed once and discarded; higher levels cost more time than the network saves. */
export const GZIP_LEVEL = 1

/** A reply before it becomes a Response. */
export type Reply = {
  readonly status: number
  readonly type: string
  readonly body: Body | StreamedBody
  readonly headers: Readonly<Record<string, string>>
  /** `tagged`: has an ETag, supports If-None-Match, may be compressed. `raw`: unchanged. */
  readonly form: 'tagged' | 'raw'
  /** The ETag and the gzip form of a body that is sent many times (`lastingReply`); absent: made for each reply. */
  readonly lasting?: { readonly etag: string; readonly gzip: () => Uint8Array<ArrayBuffer> }
  /**
   * Called when Bun has taken the whole body, or the client has left; never for a 304, which has no body. For memory that
   * counts until then.
   */
  readonly sent?: () => void
  /**
   * Set for a body of known length that holds something, such as a permit: `free` is called when the connection is no
   * longer open for it, so also after a 304. `stallMs`: how long its client may read nothing.
   */
  readonly held?: { readonly stallMs: number; readonly free: () => void }
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Bytes, or a text that is sent as UTF-8. */
export type Body = Uint8Array<ArrayBuffer> | string

/** A streamed body, of unknown length. */
export type StreamedBody = {
  readonly stream: ReadableStream<Uint8Array>
  /** The outcome of the stream, once it has been sent or abandoned. */
  readonly ended: Promise<StreamEnd>
  /** Breaks the connection off, so that the client sees an error. `kind`: the outcome. */
  readonly cutOff: (kind: string) => void
}
/** `kind`: `ok`, `gone`, `stalled`, or the kind of the failure that ended the stream. */
export type StreamEnd = { readonly kind: string; readonly bytes: number; readonly cause?: Failure }

export const isStreamed = (body: Body | StreamedBody): body is StreamedBody =>
  typeof body !== 'string' && 'stream' in body

const encoder = new TextEncoder()

/** A reply with a text; `raw` by default. */
export const textReply = (
  status: number,
  { type, text }: { readonly type: string; readonly text: string },
  {
    headers = {},
    form = 'raw',
  }: { readonly headers?: Readonly<Record<string, string>>; readonly form?: Reply['form'] } = {},
): Reply =>
  // Encoded once, since a tagged body is measured, hashed and sent.
  ({ status, type, body: form === 'tagged' ? encoder.encode(text) : text, headers, form })

/** A reply for many requests: its text is encoded, hashed and compressed once. */
export function lastingReply(
  { type, text }: { readonly type: string; readonly text: string },
  headers: Readonly<Record<string, string>>,
): Reply {
  const body = encoder.encode(text)
  const lasting = { etag: computeEtag(body), gzip: keepFirstResult(() => Bun.gzipSync(body)) }
  return { status: 200, type, body, headers, form: 'tagged', lasting }
}

/** Headers that a page of another origin may read. */
const EXPOSED =
  'ETag, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Block-Height, X-Block-Time, X-Head-Height, X-Head-Status, X-Request-Id, X-Total-Count, Content-Disposition'

/**
 * Any origin may send requests, without the browser's credentials: the key is in the request. Keys may be in
 * URLs, so links in an answer must send no referrer.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * The Response to a GET; `own`: headers that were set before the reply. The length is set where it is known,
 * so that HEAD can repeat it.
 */
export function toResponse(
  reply: Reply,
  request: Request,
  { id, own = {} }: { readonly id: string; readonly own?: Readonly<Record<string, string>> },
): Response {
  const { status, type, body } = reply
  const headers: Record<string, string> = { ...COMMON_HEADERS, 'X-Request-Id': id, ...own, ...reply.headers }
  headers['Content-Type'] = type
  if (isStreamed(body)) return new Response(body.stream, { status, headers })
  if (reply.form === 'raw') return withBody(reply, headers, body)
  const plain = reply.lasting?.etag ?? computeEtag(body)
  const { headers: asked } = request
  const [codings, tags] = [asked.get('accept-encoding'), asked.get('if-none-match')]
  // A tagged body is bytes (`textReply`, `lastingReply`).
  const packs = codings !== null && body.length > GZIP_FROM_BYTES && acceptsGzip(codings)
  const etag = packs ? toGzipEtag(plain) : plain
  const known = tags === null ? undefined : matchingTag(tags, etag, plain)
  const { Vary: vary } = headers
  headers['Vary'] = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
  headers['ETag'] = known ?? etag
  if (known !== undefined) {
    delete headers['Content-Type']
    return new Response(null, { status: 304, headers })
  }
  if (!packs) return withBody(reply, headers, body)
  headers['Content-Encoding'] = 'gzip'
  return withBody(reply, headers, reply.lasting?.gzip() ?? Bun.gzipSync(body, { level: GZIP_LEVEL }))
}

function withBody({ status, sent }: Reply, headers: Record<string, string>, body: Body): Response {
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  headers['Content-Length'] = String(bytes)
  if (sent === undefined) return new Response(body, { status, headers })
  if (typeof body !== 'string' && bytes > PIECE_BYTES)
    return new Response(streamOnDemand(body, sent), { status, headers })
  sent()
  return new Response(body, { status, headers })
}

/** Bytes of an answer that the system accepts at once. Below that, backpressure has no effect. */
export const PIECE_BYTES = 64 * 1024

/** A body that is handed out as the client reads it, so that the end of its memory use is known. */
function streamOnDemand(body: Uint8Array<ArrayBuffer>, sent: () => void): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: controller => {
        controller.enqueue(body.subarray(at, at + PIECE_BYTES))
        at += PIECE_BYTES
        if (at < body.length) return
        sent()
        controller.close()
      },
      cancel: sent,
    },
    { highWaterMark: 0 },
  )
}

// Entity tags and content codings of answers (RFC 9110 8.8.3, 12.5.3, 13.1.2).

/** 132 of SHA-256's 256 bits: two bodies never share a tag by accident. */
const TAG_LETTERS = 22

/** The strong ETag of a body's bytes, with its quotes. A text is hashed as UTF-8. */
export const computeEtag = (body: Uint8Array | string): string =>
  `"${hash('sha256', body, 'base64url').slice(0, TAG_LETTERS)}"`

/** The ETag of the same body compressed with gzip: other bytes, and therefore another strong tag. */
export const toGzipEtag = (etag: string): string => `${etag.slice(0, -1)}-gzip"`

/**
 * The tag in `If-None-Match` that matches the body, plain or as gzip: `etag`, the tag of the reply, if it is in the
 * list, else the other one of `plain`. Tags are compared weakly, as RFC 9110 requires. undefined: no tag matches.
 */
export function matchingTag(header: string, etag: string, plain: string): string | undefined {
  if (header.trim() === '*') return etag
  const tags = (header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? []).map(tag => tag.replace(/^W\//, ''))
  return [etag, plain, toGzipEtag(plain)].find(tag => tags.includes(tag))
}

/** Whether `Accept-Encoding` allows gzip: listed with a weight above 0, or by `*` when not listed. */
export function acceptsGzip(header: string): boolean {
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map(text => text.trim())
    const weight = parameters.find(text => text.startsWith('q='))?.slice(2)
    weights.set(coding, weight === undefined ? 1 : Number(weight))
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}

/** The language and format of a failure, and secrets that its message must not contain. */
export type ReplyOptions = Pick<Options, 'lang' | 'format'> & { readonly secrets: readonly string[] }

/** The reply for a failed request: status, code, message, and the time after which to retry. */
export function failureReply(failure: Failure, options: ReplyOptions, id: string): Reply {
  const { status, code, retryAfter } = codes[failure.kind]
  const message = hideSecrets(formatFailureMessage(failure, options.lang), options.secrets)
  const body =
    options.format === 'bare' ? { code, message, request_id: id } : { code, message, data: {}, request_id: id }
  const { retryAfter: wait = retryAfter } = failure.details
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Language': options.lang,
    ...(wait === undefined ? {} : { 'Retry-After': String(wait) }),
    // A request body is not read, so the connection is closed.
    ...(failure.kind === 'method_not_allowed' ? { Allow: ALLOWED, Connection: 'close' } : {}),
  }
  return textReply(status, { type: JSON_TYPE, text: writeJson(body) }, { headers })
}

/** Code and message of a failure that ends a stream. */
export const failureFields = (
  failure: Failure,
  { lang, secrets }: Pick<ReplyOptions, 'lang' | 'secrets'>,
): { readonly code: number; readonly message: string } => ({
  code: codes[failure.kind].code,
  message: hideSecrets(formatFailureMessage(failure, lang), secrets),
})

/**
 * What was wrong with a request, for the log; undefined: nothing was. A thing that does not exist is no fault of the
 * request, and the log does not tell what callers look for.
 */
export function refusalText(failure: Failure, secrets: readonly string[]): string | undefined {
  const { status, message } = codes[failure.kind]
  const isFault = message === 'own' && status < 500 && failure.kind !== 'not_found'
  return isFault ? hideSecrets(failure.message, secrets) : undefined
}

export const ALLOWED = 'GET, HEAD, OPTIONS'

function formatFailureMessage(failure: Failure, lang: 'en' | 'zh'): string {
  // Its own message names the store.
  if (failure instanceof NothingLoaded) return [EMPTY.what[lang], EMPTY.help[lang]].join(lang === 'en' ? ' ' : '')
  const { message, title } = codes[failure.kind]
  const own = message === 'own' || (message === 'title' && failure instanceof PublicFailure)
  if (!own) return title[lang]
  return lang === 'zh' ? (failure.zh ?? failure.message) : failure.message
}

/**
 * Minimum length of a secret. A key is never repeated, even when it was sent in another parameter; shorter
 * texts are not keys.
 */
const SECRET_LETTERS = 8

const hideSecrets = (message: string, secrets: readonly string[]): string =>
  secrets
    .filter(secret => secret.length >= SECRET_LETTERS)
    .reduce((text, secret) => hideSecretPrefix(text.replaceAll(secret, '***'), secret), message)

/** Where a long text was truncated, the key in it may be truncated, too. */
function hideSecretPrefix(message: string, secret: string): string {
  if (!message.includes('…')) return message
  const parts = message.split("'").map(part => {
    const cutAt = part.lastIndexOf('…')
    const before = part.slice(0, Math.max(0, cutAt))
    let length = Math.min(secret.length, before.length)
    while (length >= BEGIN_LETTERS && !before.endsWith(secret.slice(0, length))) length -= 1
    return length < BEGIN_LETTERS ? part : `${before.slice(0, before.length - length)}***${part.slice(cutAt)}`
  })
  return parts.join("'")
}

/** Minimum length of a key's prefix to hide. A shorter one reveals nothing about the rest. */
const BEGIN_LETTERS = 4
