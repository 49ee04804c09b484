import { type Failure, toFailure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { PIECE_BYTES, type StreamEnd, type StreamedBody } from '../reply.ts'

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
export const inPieces = function* (bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}
