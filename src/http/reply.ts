import { hash } from 'node:crypto'
import type { Failure } from '#failure/failure.ts'

/** Below this many bytes gzip saves less than a packet. */
const GZIP_FROM_BYTES = 1_024
/** Level 1: answers are packed once and thrown away; higher levels cost more time than the network saves. */
export const GZIP_LEVEL = 1

/** An answer before it becomes a Response. */
export type Reply = {
  readonly status: number
  /** undefined: a node's answer that names none. */
  readonly type: string | undefined
  readonly body: Body | Streamed
  readonly headers: Readonly<Record<string, string>>
  /** `tagged`: has an ETag, answers If-None-Match, may be compressed. `raw`: unchanged. */
  readonly form: 'tagged' | 'raw'
  /** Called when the body is with the client, or given up. */
  readonly sent?: () => void
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Bytes, or a text that is sent as UTF-8. */
export type Body = Uint8Array<ArrayBuffer> | string

/** A body that is made while it is sent, of unknown length. */
export type Streamed = {
  readonly stream: ReadableStream<Uint8Array>
  /** What became of it, when it is with the client or given up. */
  readonly ended: Promise<StreamEnd>
}
/** `kind`: `ok`, `gone`, `stalled`, or the kind of the failure that broke it off. */
export type StreamEnd = { readonly kind: string; readonly bytes: number; readonly cause?: Failure }

export const isStreamed = (body: Body | Streamed): body is Streamed =>
  typeof body !== 'string' && 'stream' in body

export const bytesIn = (body: Body): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.length

const encoder = new TextEncoder()

/** A body of text; `raw` unless said otherwise. */
export const textReply = (
  status: number,
  { type, text }: { readonly type: string; readonly text: string },
  {
    headers = {},
    form = 'raw',
  }: { readonly headers?: Readonly<Record<string, string>>; readonly form?: Reply['form'] } = {},
): Reply =>
  // Once, since a tagged body is measured, hashed and sent.
  ({ status, type, body: form === 'tagged' ? encoder.encode(text) : text, headers, form })

/** Headers a page of another origin may read. */
const EXPOSED =
  'ETag, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Block-Height, X-Block-Time, X-Head-Height, X-Head-Status, X-Request-Id, X-Total-Count, Content-Disposition'

/**
 * Any page may ask, none with the browser's credentials: the key is in the request. Keys stand in URLs, so no link
 * followed from an answer may carry the address on.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/** The Response of a GET; `own`: headers that were known before the reply. Lengths are given where they are known, so HEAD can repeat them. */
export const responseOf = (
  reply: Reply,
  request: Request,
  { id, own = {} }: { readonly id: string; readonly own?: Readonly<Record<string, string>> },
): Response => {
  const { status, type, body } = reply
  const headers: Record<string, string> = { ...COMMON_HEADERS, 'X-Request-Id': id, ...own, ...reply.headers }
  if (type !== undefined) headers['Content-Type'] = type
  if (isStreamed(body)) return new Response(body.stream, { status, headers })
  if (reply.form === 'raw') return withBody(reply, headers, body)
  const plain = etagOf(body)
  const { headers: asked } = request
  const packs = bytesIn(body) > GZIP_FROM_BYTES && acceptsGzip(asked.get('accept-encoding'))
  const etag = packs ? gzipTagOf(plain) : plain
  const known = knownTag(asked.get('if-none-match'), etag, plain)
  const { Vary: vary } = headers
  headers['Vary'] = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
  headers['ETag'] = known ?? etag
  if (known !== undefined) {
    delete headers['Content-Type']
    return new Response(null, { status: 304, headers })
  }
  if (!packs) return withBody(reply, headers, body)
  headers['Content-Encoding'] = 'gzip'
  return withBody(reply, headers, Bun.gzipSync(body, { level: GZIP_LEVEL }))
}

const withBody = ({ status, type, sent }: Reply, headers: Record<string, string>, body: Body): Response => {
  const bytes = bytesIn(body)
  headers['Content-Length'] = String(bytes)
  if (sent === undefined) return new Response(body, { status, headers })
  // Bun names a type for bytes that have none, not for a stream.
  if (typeof body !== 'string' && (bytes > PIECE_BYTES || (type === undefined && bytes > 0)))
    return new Response(asTaken(body, sent), { status, headers })
  sent()
  return new Response(body, { status, headers })
}

/**
 * Bytes of an answer that are handed out at once: the system accepts them, so a shorter answer is sent before backpressure
 * could show.
 */
export const PIECE_BYTES = 64 * 1024

/** A body that is handed out as the client takes it, so that it is known when it needs no room any more. */
const asTaken = (body: Uint8Array<ArrayBuffer>, sent: () => void): ReadableStream<Uint8Array> => {
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

/** 128 of SHA-256's 256 bits: two bodies never share a tag by accident. */
const TAG_LETTERS = 22

/** Strong tag of a body's bytes, with its quotes. A text stands for its UTF-8. */
export const etagOf = (body: Uint8Array | string): string =>
  `"${hash('sha256', body, 'base64url').slice(0, TAG_LETTERS)}"`

/** The tag of the same body sent as gzip: other bytes on the wire, so another strong tag. */
export const gzipTagOf = (etag: string): string => `${etag.slice(0, -1)}-gzip"`

/**
 * The tag that the asker has by its `If-None-Match`, which names the body plain or as gzip: `etag` of what would be sent
 * where that is among them, else the other one of `plain`. Compared weakly, as the header asks. undefined: none.
 */
export const knownTag = (header: string | null, etag: string, plain: string): string | undefined => {
  if (header === null) return undefined
  if (header.trim() === '*') return etag
  const tags = (header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? []).map(tag =>
    tag.replace(/^W\//, ''),
  )
  return [etag, plain, gzipTagOf(plain)].find(tag => tags.includes(tag))
}

/** Whether `Accept-Encoding` allows gzip: named with a weight above 0, or by `*` when not named. */
export const acceptsGzip = (header: string | null): boolean => {
  if (header === null) return false
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map(text => text.trim())
    const weight = parameters.find(text => text.startsWith('q='))?.slice(2)
    weights.set(coding, weight === undefined ? 1 : Number(weight))
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
