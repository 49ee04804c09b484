import { acceptsGzip, etagOf, gzipTagOf, knownTag } from './etag.ts'

/** Below this many bytes gzip saves less than a packet. */
const GZIP_FROM_BYTES = 1_024
/** Level 1: answers are packed once and thrown away; higher levels cost more time than the network saves. */
const GZIP_LEVEL = 1

/** An answer before it becomes a Response. */
export type Reply = {
  readonly status: number
  /** undefined: a node's answer that names none. */
  readonly type: string | undefined
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
  /** `tagged`: has an ETag, answers If-None-Match, may be compressed. `raw`: unchanged. */
  readonly form: 'tagged' | 'raw'
  /** Called when the body is with the client, or given up. */
  readonly sent?: () => void
}

export const JSON_TYPE = 'application/json; charset=utf-8'

const encoder = new TextEncoder()

/** A body of text; `raw` unless said otherwise. */
export const textReply = (
  status: number,
  { type, text }: { readonly type: string; readonly text: string },
  options: { readonly headers?: Readonly<Record<string, string>>; readonly form?: Reply['form'] } = {},
): Reply => ({
  status,
  type,
  body: encoder.encode(text),
  headers: options.headers ?? {},
  form: options.form ?? 'raw',
})

/** Headers a page of another origin may read. */
const EXPOSED =
  'ETag, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Block-Height, X-Block-Time, X-Request-Id'

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

/** The Response of a GET. Lengths are always given, so HEAD can repeat them. */
export const responseOf = (reply: Reply, request: Request, id: string): Response => {
  const headers = { ...COMMON_HEADERS, 'X-Request-Id': id, ...reply.headers }
  if (reply.form === 'raw') return withBody(reply, headers, reply.body)
  const plain = etagOf(reply.body)
  const packs = reply.body.length > GZIP_FROM_BYTES && acceptsGzip(request.headers.get('accept-encoding'))
  const etag = packs ? gzipTagOf(plain) : plain
  const vary = [reply.headers['Vary'], 'Accept-Encoding'].filter(each => each !== undefined).join(', ')
  const tagged = { ...headers, Vary: vary, ETag: etag }
  const known = knownTag(request.headers.get('if-none-match'), etag, plain)
  if (known !== undefined) return new Response(null, { status: 304, headers: { ...tagged, ETag: known } })
  if (!packs) return withBody(reply, tagged, reply.body)
  const body = Bun.gzipSync(reply.body, { level: GZIP_LEVEL })
  return withBody(reply, { ...tagged, 'Content-Encoding': 'gzip' }, body)
}

const withBody = (
  { status, type, sent }: Reply,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array<ArrayBuffer>,
): Response => {
  const init = {
    status,
    headers: {
      ...headers,
      ...(type === undefined ? {} : { 'Content-Type': type }),
      'Content-Length': String(body.length),
    },
  }
  if (sent === undefined) return new Response(body, init)
  // Bun names a type for bytes that have none, not for a stream.
  if (body.length > PIECE_BYTES || (type === undefined && body.length > 0))
    return new Response(inPieces(body, sent), init)
  sent()
  return new Response(body, init)
}

/** Bytes of an answer that the system accepts at once; a shorter answer is sent before backpressure could show. */
const PIECE_BYTES = 64 * 1024

/** A body that is handed out as the client takes it, so that it is known when it needs no room any more. */
const inPieces = (body: Uint8Array<ArrayBuffer>, sent: () => void): ReadableStream<Uint8Array> => {
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
