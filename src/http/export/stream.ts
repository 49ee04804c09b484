import { constants, createGzip } from 'node:zlib'
import { badRequest } from '#actions/request/refusals.ts'
import { type Failure, toFailure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { GZIP_LEVEL, PIECE_BYTES, type StreamEnd, type StreamedBody } from '../reply.ts'

type Options = {
  /** Aborts when the client goes away. */
  readonly client: AbortSignal
  /** A client that reads nothing for this time is disconnected. */
  readonly stallMs: number
  readonly clock: Pick<Clock, 'after'>
  /** Called once when the body ends for any reason. Releases the resources of the body. */
  readonly free: () => void
}

/**
 * A body of chunks that are made as the client reads them; none is made ahead. If a chunk cannot be made, or on `fail`, the
 * connection is reset before the end of the body, so that the client sees an error and not a truncated body.
 */
export function createStream(
  pieces: AsyncGenerator<Uint8Array, void, void>,
  { client, stallMs, clock, free }: Options,
): StreamedBody & { readonly fail: (failure: Failure) => void } {
  const ended = Promise.withResolvers<StreamEnd>()
  let bytes = 0
  let isOver = false
  let calm: () => void = () => undefined
  let cut: () => void = () => undefined
  const end = (kind: string, cause?: Failure): void => {
    if (isOver) return
    isOver = true
    calm()
    client.removeEventListener('abort', leave)
    free()
    // Ends the generator at once unless a read is pending. `free` has aborted such a read.
    void pieces.return().catch(() => undefined)
    ended.resolve({ kind, bytes, ...(cause === undefined ? {} : { cause }) })
  }
  const cutOff = (kind: string): void => {
    end(kind)
    cut()
  }
  const fail = (failure: Failure): void => {
    end(failure.kind, failure)
    cut()
  }
  const leave = (): void => cutOff('gone')
  const watch = (): void => {
    calm = clock.after(stallMs, () => cutOff('stalled'))
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    calm()
    if (isOver) return
    try {
      const next = await pieces.next()
      if (isOver) return
      if (next.done) {
        end('ok')
        controller.close()
        return
      }
      bytes += next.value.length
      controller.enqueue(next.value)
      watch()
    } catch (error) {
      fail(toFailure(error))
    }
  }
  // Without a reason: Bun would print it, and closes the connection in either case.
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    cut = () => controller.error()
  }
  const stream = new ReadableStream<Uint8Array>({ start, pull, cancel: leave }, { highWaterMark: 0 })
  client.addEventListener('abort', leave)
  watch()
  if (client.aborted) leave()
  return { stream, ended: ended.promise, cutOff, fail }
}

/** Splits bytes into chunks of the size that is sent. */
export const splitPieces = function* (bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/** Compresses a body, chunk by chunk, into one gzip stream. */
type Packer = {
  /** Returns the output that is available after a chunk. */
  pack(piece: Uint8Array): Promise<Uint8Array>
  /** Returns the end of the stream. */
  end(): Promise<Uint8Array>
  /** Frees the stream's memory. */
  close(): void
}

export function gzipPacker(): Packer {
  const gzip = createGzip({ level: GZIP_LEVEL })
  let failure: Error | undefined
  // Each piece has a promise of its own: one for the whole body would keep a reaction for each piece.
  let fail: (error: Error) => void = () => undefined
  gzip.on('error', error => {
    failure = error
    fail(error)
  })
  let out: Uint8Array[] = []
  gzip.on('data', (part: Uint8Array) => out.push(part))
  const take = (): Uint8Array => {
    const taken = Buffer.concat(out)
    out = []
    return taken
  }
  const after = async (work: (done: () => void) => void): Promise<Uint8Array> => {
    if (failure !== undefined) throw failure
    await new Promise<void>((done, reject) => {
      fail = reject
      work(done)
    })
    return take()
  }
  return {
    pack: piece =>
      after(done => {
        gzip.write(piece)
        gzip.flush(constants.Z_SYNC_FLUSH, done)
      }),
    end: () =>
      after(done => {
        gzip.once('end', done)
        gzip.end()
      }),
    close: () => void gzip.destroy(),
  }
}

/** Passes chunks on unchanged. */
export const plainPacker: Packer = {
  pack: async piece => piece,
  end: async () => new Uint8Array(),
  close: () => undefined,
}

const encoder = new TextEncoder()

/** Encodes texts as the chunks of a body. */
export const packTexts = async function* (
  texts: AsyncGenerator<string, void, void>,
  packer: Packer,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const text of texts) yield* splitPieces(await packer.pack(encoder.encode(text)))
  yield* splitPieces(await packer.end())
}

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
    if (bytes > MAX_BYTES)
      throw badRequest(
        {
          en: `This list is larger than ${MAX_BYTES} bytes, and the request has 'Connection: close', as HTTP/1.0 clients and nginx by default send it: the end of a list of that size could not be told from a broken connection. Use HTTP/1.1 and keep the connection alive; in nginx set proxy_http_version 1.1 and proxy_set_header Connection "".`,
          zh: `此列表超过 ${MAX_BYTES} 字节，而请求带有 'Connection: close'（HTTP/1.0 客户端及 nginx 默认如此）：这样无法区分列表结束与连接中断。请使用 HTTP/1.1 并保持连接；nginx 请设置 proxy_http_version 1.1 与 proxy_set_header Connection ""。`,
        },
        {},
      )
    taken.push(piece)
  }
  return Buffer.concat(taken)
}
