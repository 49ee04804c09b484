/** The received bytes are not an HTTP/1.1 answer, or the answer is too large. */
export class BadResponse extends Error {}

/** An HTTP/1.1 answer with the members that callers need. */
export type HttpResponse = Omit<Head, 'framing'> & { readonly text: string }

const MOST_HEAD_BYTES = 64 * 1024
/** Maximum size of an answer; pages and parts of scans have some MB. */
const MOST_BYTES = 96 * 1024 * 1024
/** Bytes of each answer that always have room. */
const FREE_BYTES = 1024 * 1024
/** Maximum size of all answers that this thread receives at once, beyond the free bytes of each. */
const MOST_BYTES_AT_ONCE = 96 * 1024 * 1024
let bytesAtOnce = 0

/** Reads consecutive answers from the bytes of a connection. */
export class ResponseReader {
  private received = new Received()
  private head: Head | undefined

  /** The answer, as soon as its last byte has arrived. Throws `BadResponse`. */
  push(bytes: Uint8Array): HttpResponse | undefined {
    const { received } = this
    received.add(bytes)
    this.head ??= readHead(received)
    const { head } = this
    if (head === undefined || head.framing.by === 'close') return undefined
    if (head.framing.by === 'length') {
      const text = readLength(received, head.framing.length)
      return text === undefined ? undefined : this.answered(head, text)
    }
    return readChunks(received) ? this.answered(head, received.body()) : undefined
  }

  /** Called when the connection is closed: returns the answer that ends there, or throws `BadResponse`. */
  end(): HttpResponse {
    if (this.head?.framing.by !== 'close') throw new BadResponse('The connection was closed before the answer ended')
    return this.answered(this.head, this.received.rest())
  }

  /** Called when nothing more is read: the memory of an unfinished answer is free again. */
  release(): void {
    this.received.release()
  }

  private answered({ status, headers, keepsAlive }: Head, text: string): HttpResponse {
    // Bytes after the end belong to no request of ours, so the connection is not reused.
    const answer = { status, headers, text, keepsAlive: keepsAlive && this.received.isAtEnd() }
    this.received.release()
    this.received = new Received()
    this.head = undefined
    return answer
  }
}

const NONE = Buffer.alloc(0)

/** The received bytes, and the position up to which they are parsed. */
class Received {
  #bytes: Buffer = NONE
  #filled = 0
  /** Bytes that count among those of all answers. */
  #counted = 0
  /** The body in chunks: its bytes are moved together within the buffer, since a chunk may have a single one. */
  #body = { from: 0, to: 0 }
  at = 0

  add(bytes: Uint8Array): void {
    const filled = this.#filled + bytes.length
    if (filled > MOST_BYTES) throw new BadResponse(`The answer has more than ${MOST_BYTES} bytes`)
    const more = Math.max(0, filled - FREE_BYTES) - this.#counted
    if (bytesAtOnce + more > MOST_BYTES_AT_ONCE)
      throw new BadResponse(`The answers to all requests have more than ${MOST_BYTES_AT_ONCE} bytes`)
    this.#counted += more
    bytesAtOnce += more
    if (this.#filled === 0) {
      // Most answers arrive in one piece.
      this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    } else {
      if (filled > this.#bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(filled, this.#bytes.length * 2))
        this.#bytes.copy(larger, 0, 0, this.#filled)
        this.#bytes = larger
      }
      this.#bytes.set(bytes, this.#filled)
    }
    this.#filled = filled
  }
  isAtEnd(): boolean {
    return this.at === this.#filled
  }
  /** Number of bytes that are not parsed yet. */
  left(from = this.at): number {
    return this.#filled - from
  }
  /** Position of a text at or after `from`; -1: not received yet. */
  find(text: string, from = this.at): number {
    return this.#bytes.subarray(0, this.#filled).indexOf(text, from)
  }
  latin1(from: number, to: number): string {
    return this.#bytes.toString('latin1', from, to)
  }
  utf8(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to)
  }
  release(): void {
    bytesAtOnce -= this.#counted
    this.#counted = 0
  }
  /** Appends bytes to the body. */
  keep(from: number, to: number): void {
    if (this.#body.to === 0) this.#body = { from, to: from }
    this.#bytes.copyWithin(this.#body.to, from, to)
    this.#body.to += to - from
  }
  body(): string {
    return this.utf8(this.#body.from, this.#body.to)
  }
  rest(): string {
    const from = this.at
    this.at = this.#filled
    return this.utf8(from, this.at)
  }
}

const HEAD_END = '\r\n\r\n'

const readHead = (received: Received): Head | undefined => {
  for (;;) {
    const end = received.find(HEAD_END)
    if ((end === -1 ? received.left() : end - received.at) > MOST_HEAD_BYTES)
      throw new BadResponse(`The head of the answer has more than ${MOST_HEAD_BYTES} bytes`)
    if (end === -1) return undefined
    const head = headOf(received.latin1(received.at, end))
    received.at = end + HEAD_END.length
    // Status 100 to 199 announces the actual answer.
    if (head.status >= 200) return head
  }
}

const readLength = (received: Received, length: number): string | undefined => {
  if (length > MOST_BYTES) throw new BadResponse(`The answer has ${length} bytes`)
  if (received.left() < length) return undefined
  received.at += length
  return received.utf8(received.at - length, received.at)
}

const CRLF = '\r\n'

/** Takes the complete chunks; true: the last chunk was among them. */
const readChunks = (received: Received): boolean => {
  for (;;) {
    const line = received.find(CRLF)
    if (line === -1 && received.left() > MOST_HEAD_BYTES) throw new BadResponse('A chunk of the answer has no length')
    if (line === -1) return false
    const size = sizeOf(received.latin1(received.at, line))
    const from = line + CRLF.length
    if (size === 0) return readTrailers(received, from)
    if (received.left(from) < size + CRLF.length) return false
    const to = from + size
    if (received.latin1(to, to + CRLF.length) !== CRLF)
      throw new BadResponse('A chunk of the answer is longer than it says')
    received.keep(from, to)
    received.at = to + CRLF.length
  }
}

/** Skips the optional trailers after the last chunk. */
const readTrailers = (received: Received, from: number): boolean => {
  if (received.left(from) > MOST_HEAD_BYTES) throw new BadResponse('The answer has too many trailers')
  for (let line = from; ; ) {
    const end = received.find(CRLF, line)
    if (end === -1) return false
    if (end === line) {
      received.at = end + CRLF.length
      return true
    }
    line = end + CRLF.length
  }
}

/** Bytes of a chunk; extensions after `;` are ignored. */
const sizeOf = (line: string): number => {
  const [, digits] = /^([0-9a-fA-F]{1,8})[ \t]*(?:;|$)/.exec(line) ?? []
  if (digits === undefined) throw new BadResponse('A chunk of the answer has no length')
  return Number.parseInt(digits, 16)
}

/** The way in which the end of a body is determined (RFC 9112, section 6.3). */
type Framing = { readonly by: 'length'; readonly length: number } | { readonly by: 'chunks' | 'close' }

/** The status line and the headers of an answer. */
type Head = {
  readonly status: number
  /** Names in lower case; the last value of a repeated header. */
  readonly headers: ReadonlyMap<string, string>
  /** Whether the server reads further requests from this connection. */
  readonly keepsAlive: boolean
  readonly framing: Framing
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/

/** Consecutive answers often have the same head, and parsing it costs as much as parsing a small body. */
let last: { readonly text: string; readonly head: Head } | undefined

/** Reads a head, without the empty line that ends it. Throws `BadResponse`. */
const headOf = (text: string): Head => {
  if (last?.text !== text) last = { text, head: readHeadText(text) }
  return last.head
}

const readHeadText = (text: string): Head => {
  const [line = '', ...lines] = text.split('\r\n')
  const [, minor, code] = STATUS_LINE.exec(line) ?? []
  if (minor === undefined) throw new BadResponse('The answer is not HTTP/1.1')
  const headers = new Map<string, string>()
  for (const each of lines) {
    const colon = each.indexOf(':')
    if (colon > 0) headers.set(each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim())
  }
  const status = Number(code)
  const framing = framingOf(status, headers)
  const connection = headers.get('connection')?.toLowerCase()
  const keepsAlive = framing.by !== 'close' && (minor === '1' ? connection !== 'close' : connection === 'keep-alive')
  return { status, headers, keepsAlive, framing }
}

const framingOf = (status: number, headers: ReadonlyMap<string, string>): Framing => {
  if (status === 204 || status === 304) return { by: 'length', length: 0 }
  const coding = headers.get('transfer-encoding')
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw new BadResponse(`The answer has the transfer coding '${coding}'`)
    return { by: 'chunks' }
  }
  const length = headers.get('content-length')
  if (length === undefined) return { by: 'close' }
  if (!/^\d{1,15}$/.test(length)) throw new BadResponse(`The answer has the length '${length}'`)
  return { by: 'length', length: Number(length) }
}
