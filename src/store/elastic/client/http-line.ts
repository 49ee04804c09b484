import { checkServerIdentity } from 'node:tls'
import type { Socket } from 'bun'
import { systemClock } from '#time/clock.ts'
import { type AnswerReader, answerReader, type HttpAnswer } from './http-answer.ts'
import { BadAnswer } from './http-head.ts'

/** Why there is no answer. */
export class NoAnswer extends Error {
  /** The connection had answered before and ended before a byte of this answer came: the request may be sent anew. */
  readonly wasKept: boolean
  constructor(message: string, wasKept = false) {
    super(message)
    this.wasKept = wasKept
  }
}

export type LineOptions = {
  readonly url: URL
  /** PEM text of the authority that signed the server's certificate; default: those of the system. */
  readonly ca?: string | undefined
}

/** One connection to an HTTP server, for one request at a time. */
export type HttpLine = {
  /** Milliseconds of `Clock.elapsed` since which no request is under way. */
  idleSince: number
  readonly isClosed: () => boolean
  /** Sends a request, head and body in one. Throws `NoAnswer`; the connection is closed then. */
  readonly send: (request: string) => Promise<HttpAnswer>
  /** Ends the connection; a request under way fails. */
  readonly close: (reason?: string) => void
}

/** A request that is under way. */
type UnderWay = {
  readonly reader: AnswerReader
  readonly resolve: (answer: HttpAnswer) => void
  readonly reject: (error: NoAnswer) => void
  hasBegun: boolean
}

const CLOSED = 'The connection was closed'

/** Connects. Throws `NoAnswer`. */
export const openLine = async (options: LineOptions): Promise<HttpLine> => {
  let socket: Socket<undefined> | undefined
  let underWay: UnderWay | undefined
  /** Bytes of the request that the system has not taken yet. */
  let unsent: Uint8Array | undefined
  let answers = 0
  let isClosed = false
  const close = (reason = CLOSED): void => {
    isClosed = true
    socket?.terminate()
    const failed = underWay
    underWay = undefined
    failed?.reject(new NoAnswer(reason, answers > 0 && !failed.hasBegun))
  }
  const write = (bytes: Uint8Array): void => {
    const written = socket?.write(bytes) ?? -1
    if (written < 0) close()
    else unsent = written < bytes.length ? bytes.subarray(written) : undefined
  }
  /** Reads on; what is no answer ends the connection. */
  const take = (read: (reader: AnswerReader) => HttpAnswer | undefined): void => {
    if (underWay === undefined) return
    const { reader, resolve } = underWay
    let answer: HttpAnswer | undefined
    try {
      answer = read(reader)
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error
      close(error.message)
    }
    if (answer === undefined) return
    underWay = undefined
    answers += 1
    line.idleSince = systemClock.elapsed()
    if (!answer.keepsAlive || unsent !== undefined) close()
    resolve(answer)
  }
  const line: HttpLine = {
    idleSince: systemClock.elapsed(),
    isClosed: () => isClosed,
    close,
    send: request =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new NoAnswer(CLOSED, answers > 0))
        underWay = { reader: answerReader(), resolve, reject, hasBegun: false }
        write(Buffer.from(request))
      }),
  }
  socket = await connected(options, {
    onBytes: bytes => {
      // Nobody asked for them.
      if (underWay === undefined) close()
      else underWay.hasBegun = true
      take(reader => reader.push(bytes))
    },
    onRoom: () => {
      if (unsent !== undefined) write(unsent)
    },
    onEnd: reason => {
      if (underWay?.hasBegun) take(reader => reader.end())
      close(reason)
    },
  })
  return line
}

type Events = {
  readonly onBytes: (bytes: Uint8Array) => void
  /** The system takes more bytes. */
  readonly onRoom: () => void
  readonly onEnd: (reason: string) => void
}

/** A socket that is ready to be written to: for https after the server has shown whose it is. Throws `NoAnswer`. */
const connected = async (
  { url, ca }: LineOptions,
  { onBytes, onRoom, onEnd }: Events,
): Promise<Socket<undefined>> => {
  const isTls = url.protocol === 'https:'
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const ready = Promise.withResolvers<Socket<undefined>>()
  const fail = (reason: string): void => {
    ready.reject(new NoAnswer(reason))
    onEnd(reason)
  }
  const handshake = (socket: Socket<undefined>, _: boolean, error: Error | null): void => {
    const problem = error ?? checkServerIdentity(hostname, socket.getPeerCertificate())
    if (problem === undefined) {
      ready.resolve(socket)
    } else {
      fail(problem.message)
      socket.terminate()
    }
  }
  const connecting = Bun.connect<undefined>({
    hostname,
    port: Number(url.port) || (isTls ? 443 : 80),
    ...(isTls
      ? { tls: { serverName: hostname, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) } }
      : {}),
    socket: {
      ...(isTls ? { handshake } : { open: (socket: Socket<undefined>) => ready.resolve(socket) }),
      data: (_, bytes) => onBytes(bytes),
      drain: onRoom,
      end: () => onEnd(CLOSED),
      close: (_, error) => fail(error?.message ?? CLOSED),
      error: (_, error) => fail(error.message),
      connectError: (_, error) => fail(error.message),
    },
  })
  connecting.catch(error => fail(error instanceof Error ? error.message : String(error)))
  return ready.promise
}
