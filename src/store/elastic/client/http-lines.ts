import { systemClock } from '#time/clock.ts'
import type { HttpAnswer } from './http-answer.ts'
import { type HttpLine, type LineOptions, NoAnswer, openLine } from './http-line.ts'

/** Connections to one server, kept from request to request. */
export type HttpLines = {
  /**
   * Sends a request on a kept connection, else on a new one. Where a kept one turns out to have ended, a repeatable
   * request is sent once more, on a new one. Throws `NoAnswer`.
   */
  send(request: string, sending: Sending, isRepeatable: boolean): Promise<HttpAnswer>
  close(): void
}

/** A request on its way to one host. */
export type Sending = {
  /** Names the host, to give up all that is there. */
  readonly host: object | undefined
  /** The connection that it is on, until it is answered. */
  line: HttpLine | undefined
  /** Nobody waits for it any more. */
  isOver: boolean
}

export const newSending = (host?: object): Sending => ({ host, line: undefined, isOver: false })

/** Beyond this a router on the way may have forgotten the connection, and a request would vanish. */
const IDLE_MS = 55_000

export const openLines = (options: LineOptions): HttpLines => {
  const idle: HttpLine[] = []
  const all = new Set<HttpLine>()
  let isClosed = false

  const kept = (): HttpLine | undefined => {
    for (let line = idle.pop(); line !== undefined; line = idle.pop()) {
      if (!line.isClosed() && systemClock.elapsed() - line.idleSince < IDLE_MS) return line
      all.delete(line)
      line.close()
    }
    return undefined
  }
  const fresh = async (): Promise<HttpLine> => {
    const line = await openLine(options)
    all.add(line)
    if (isClosed) line.close()
    return line
  }
  const sendOn = async (line: HttpLine, request: string, sending: Sending): Promise<HttpAnswer> => {
    sending.line = line
    if (sending.isOver) line.close()
    try {
      return await line.send(request)
    } finally {
      // It may carry another request from here on.
      sending.line = undefined
      if (line.isClosed()) all.delete(line)
      else idle.push(line)
    }
  }
  return {
    send: async (request, sending, isRepeatable) => {
      const line = kept() ?? (await fresh())
      try {
        return await sendOn(line, request, sending)
      } catch (error) {
        if (!isRepeatable || !(error instanceof NoAnswer) || !error.wasKept || isClosed) throw error
      }
      const another = await fresh()
      return sendOn(another, request, sending)
    },
    close: () => {
      isClosed = true
      for (const line of all) line.close()
      all.clear()
    },
  }
}
