import { checkServerIdentity } from 'node:tls'
import type { Socket } from 'bun'
import { messageOf } from '#failure/failure.ts'
import { systemClock } from '#time/clock.ts'
import { BadResponse, type HttpResponse, ResponseReader } from './http-response.ts'

/** The error of a request without an answer. */
export class NoResponse extends Error {
  /** Whether a reused connection ended before the first byte of this answer: the request may be sent again. */
  readonly wasKept: boolean
  constructor(message: string, wasKept = false) {
    super(message)
    this.wasKept = wasKept
  }
}

/** The error of a server with which no TLS connection can be made: its certificate is not accepted, or it speaks no TLS. */
export class TlsFault extends NoResponse {}

export type HttpConnectionOptions = {
  readonly url: URL
  /** PEM text of the CA that signed the server's certificate; default: the CAs of the system. */
  readonly ca?: string | undefined
}

const CLOSED = 'The connection was closed'

/** One connection to an HTTP server, for one request at a time. */
export class HttpConnection {
  /** Start of the idle time, in milliseconds of `Clock.elapsed`. */
  idleSince = systemClock.elapsed()
  isClosed = false
  private readonly reader = new ResponseReader()
  private socket: Socket<undefined> | undefined
  private underWay: PromiseWithResolvers<HttpResponse> | undefined
  /** Whether a byte of the answer has arrived. */
  private hasBegun = false
  /** Bytes of the request that the system has not accepted yet. */
  private unsent: Uint8Array | undefined
  private answers = 0

  /**
   * Connects; for https the server's certificate is verified then. Throws `NoResponse`, also if `close` is
   * called meanwhile.
   */
  async connect(options: HttpConnectionOptions): Promise<void> {
    await connected(options, this)
  }

  /** Called when there is a socket; for https the TLS handshake follows, which a hung server never ends. */
  opened(socket: Socket<undefined>): void {
    this.socket = socket
    if (this.isClosed) socket.terminate()
  }

  /** Sends a request, head and body in one. Throws `NoResponse`; the connection is closed then. */
  send(request: string): Promise<HttpResponse> {
    const underWay = Promise.withResolvers<HttpResponse>()
    if (this.isClosed) {
      underWay.reject(new NoResponse(CLOSED, this.answers > 0))
    } else {
      this.underWay = underWay
      this.hasBegun = false
      this.write(Buffer.from(request))
    }
    return underWay.promise
  }

  /** Closes the connection; a request under way fails. */
  close(reason = CLOSED): void {
    this.isClosed = true
    this.socket?.terminate()
    this.reader.release()
    const failed = this.underWay
    this.underWay = undefined
    failed?.reject(new NoResponse(reason, this.answers > 0 && !this.hasBegun))
  }

  received(bytes: Uint8Array): void {
    // The bytes belong to no request.
    if (this.underWay === undefined) {
      this.close()
    } else {
      this.hasBegun = true
      this.take(bytes)
    }
  }

  /** Called when the system accepts more bytes. */
  onDrain(): void {
    if (this.unsent !== undefined) this.write(this.unsent)
  }

  onEnd(reason: string): void {
    if (this.underWay !== undefined && this.hasBegun) this.take(undefined)
    this.close(reason)
  }

  private write(bytes: Uint8Array): void {
    const written = this.socket?.write(bytes) ?? -1
    if (written < 0) this.close()
    else this.unsent = written < bytes.length ? bytes.subarray(written) : undefined
  }

  /** Parses further bytes (undefined: the end of the connection); an invalid answer closes the connection. */
  private take(bytes: Uint8Array | undefined): void {
    let answer: HttpResponse | undefined
    try {
      answer = bytes === undefined ? this.reader.end() : this.reader.push(bytes)
    } catch (error) {
      if (!(error instanceof BadResponse)) throw error
      this.close(error.message)
    }
    if (answer === undefined) return
    const answered = this.underWay
    this.underWay = undefined
    this.answers += 1
    this.idleSince = systemClock.elapsed()
    if (!answer.keepsAlive || this.unsent !== undefined) this.close()
    answered?.resolve(answer)
  }
}

const connected = ({ url, ca }: HttpConnectionOptions, line: HttpConnection): Promise<void> => {
  const isTls = url.protocol === 'https:'
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const ready = Promise.withResolvers<void>()
  const fail = (reason: string, error = new NoResponse(reason)): void => {
    ready.reject(error)
    line.onEnd(reason)
  }
  const handshake = (socket: Socket<undefined>, _: boolean, error: Error | null): void => {
    const problem = error ?? checkServerIdentity(hostname, socket.getPeerCertificate())
    if (problem === undefined) {
      ready.resolve()
    } else {
      // A connection that ends in the handshake says nothing about the certificate.
      const isEnded = 'code' in problem && problem.code === 'ECONNRESET'
      fail(problem.message, isEnded ? undefined : new TlsFault(problem.message))
      socket.terminate()
    }
  }
  const connecting = Bun.connect<undefined>({
    hostname,
    port: Number(url.port) || (isTls ? 443 : 80),
    ...(isTls ? { tls: { serverName: hostname, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) } } : {}),
    socket: {
      ...(isTls ? { handshake } : {}),
      open: socket => {
        line.opened(socket)
        if (!isTls) ready.resolve()
      },
      data: (_, bytes) => line.received(bytes),
      drain: () => line.onDrain(),
      end: () => line.onEnd(CLOSED),
      close: (_, error) => fail(error?.message ?? CLOSED),
      error: (_, error) => fail(error.message),
      connectError: (_, error) => fail(error.message),
    },
  })
  connecting.catch(error => fail(messageOf(error)))
  return ready.promise
}
