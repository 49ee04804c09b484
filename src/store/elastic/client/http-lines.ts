import { systemClock } from '#time/clock.ts'
import type { HttpAnswer } from './http-answer.ts'
import { type HttpLine, type LineOptions, NoAnswer, openLine } from './http-line.ts'

/** Connections to one server, kept from request to request. */
export type HttpLines = {
  /**
   * Sends a request on a kept connection, else on a new one; `onLine` learns which. Where a kept one turns out to have
   * ended, the request is sent once more, on a new one. Throws `NoAnswer`.
   */
  send(request: string, onLine: (line: HttpLine) => void): Promise<HttpAnswer>
  close(): void
}

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
  const sendOn = async (line: HttpLine, request: string): Promise<HttpAnswer> => {
    try {
      return await line.send(request)
    } finally {
      if (line.isClosed()) all.delete(line)
      else idle.push(line)
    }
  }
  return {
    send: async (request, onLine) => {
      const line = kept() ?? (await fresh())
      onLine(line)
      try {
        return await sendOn(line, request)
      } catch (error) {
        if (!(error instanceof NoAnswer) || !error.wasKept || isClosed) throw error
      }
      const another = await fresh()
      onLine(another)
      return sendOn(another, request)
    },
    close: () => {
      isClosed = true
      for (const line of all) line.close()
      all.clear()
    },
  }
}
