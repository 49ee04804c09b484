import { type Failure, failureOf } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { PIECE_BYTES, type StreamEnd, type Streamed } from '../reply.ts'

type Options = {
  /** Aborts when the client goes away. */
  readonly client: AbortSignal
  /** Time after which a client that has not taken all of a piece is cut off. */
  readonly stallMs: number
  readonly clock: Pick<Clock, 'after'>
  /** Called once, when the body has ended in whatever way: frees what it is made of. */
  readonly free: () => void
}

/**
 * A body of pieces that are made as the client takes them: nothing is made ahead. If one cannot be made, the connection is
 * cut before the end of the chunked body, so that the client sees an error and no short body that looks whole.
 */
export const streamOf = (
  pieces: AsyncGenerator<Uint8Array, void, void>,
  { client, stallMs, clock, free }: Options,
): Streamed & { readonly cutOff: () => void } => {
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
    // Ends at once if it is not reading; a read that goes on was told by `free`.
    void pieces.return().catch(() => undefined)
    ended.resolve({ kind, bytes, ...(cause === undefined ? {} : { cause }) })
  }
  const cutOff = (kind: string): void => {
    end(kind)
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
      const failure = failureOf(error)
      end(failure.kind, failure)
      cut()
    }
  }
  // Bun prints any reason of an error, and none closes the connection as well.
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    cut = () => controller.error()
  }
  const stream = new ReadableStream<Uint8Array>({ start, pull, cancel: leave }, { highWaterMark: 0 })
  client.addEventListener('abort', leave)
  watch()
  if (client.aborted) leave()
  return { stream, ended: ended.promise, cutOff: () => cutOff('stalled') }
}

/** Bytes in pieces as they are handed out. */
export const inPieces = function* (bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}
