import { badRequest } from '#actions/request/refusals.ts'

/** Maximum bytes of a body that is made before it is sent. All exports together may take this many times their number. */
const MAX_BYTES = 8 * 1024 * 1024

/**
 * Whether the client announces that its connection ends with the answer, as nginx does by default. It may then speak
 * HTTP/1.0, in which a stream ends like a broken connection does. Only a length tells the two apart.
 */
export const needsLength = ({ headers }: Request): boolean =>
  (headers.get('connection') ?? '')
    .toLowerCase()
    .split(',')
    .some(option => option.trim() === 'close')

/** The pieces as one body. Throws 'bad_request' when they are too many for that. */
export async function collectPieces(pieces: AsyncGenerator<Uint8Array, void, void>): Promise<Uint8Array<ArrayBuffer>> {
  const taken: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > MAX_BYTES) throw TOO_LARGE
    taken.push(piece)
  }
  const body = new Uint8Array(bytes)
  let at = 0
  for (const piece of taken) {
    body.set(piece, at)
    at += piece.length
  }
  return body
}

const TOO_LARGE = badRequest(
  {
    en: `This list is larger than ${MAX_BYTES} bytes, and the request has 'Connection: close', as HTTP/1.0 clients and nginx by default send it: the end of a list of that size could not be told from a broken connection. Use HTTP/1.1 and keep the connection alive; in nginx set proxy_http_version 1.1 and proxy_set_header Connection "".`,
    zh: `此列表超过 ${MAX_BYTES} 字节，而请求带有 'Connection: close'（HTTP/1.0 客户端及 nginx 默认如此）：这样无法区分列表结束与连接中断。请使用 HTTP/1.1 并保持连接；nginx 请设置 proxy_http_version 1.1 与 proxy_set_header Connection ""。`,
  },
  {},
)
