/** What came is no HTTP/1.1 answer, or more than anybody here asks for. */
export class BadAnswer extends Error {}

/** How the end of a body is known (RFC 9112, section 6.3). */
export type Framing = { readonly by: 'length'; readonly length: number } | { readonly by: 'chunks' | 'close' }

/** The status line and the headers of an answer. */
export type Head = {
  readonly status: number
  /** Lower-case names; of a repeated header the last. */
  readonly headers: ReadonlyMap<string, string>
  /** The server goes on to read requests from this connection. */
  readonly keepsAlive: boolean
  readonly framing: Framing
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/

/** Answers of one kind begin with the same bytes again and again, and reading them costs as much as a small body. */
let last: { readonly text: string; readonly head: Head } | undefined

/** Reads a head, without the empty line that ends it. Throws `BadAnswer`. */
export const headOf = (text: string): Head => {
  if (last?.text !== text) last = { text, head: readHeadText(text) }
  return last.head
}

const readHeadText = (text: string): Head => {
  const [line = '', ...lines] = text.split('\r\n')
  const [, minor, code] = STATUS_LINE.exec(line) ?? []
  if (minor === undefined) throw new BadAnswer('The answer is not HTTP/1.1')
  const headers = new Map<string, string>()
  for (const each of lines) {
    const colon = each.indexOf(':')
    if (colon > 0) headers.set(each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim())
  }
  const status = Number(code)
  const framing = framingOf(status, headers)
  const connection = headers.get('connection')?.toLowerCase()
  const keepsAlive =
    framing.by !== 'close' && (minor === '1' ? connection !== 'close' : connection === 'keep-alive')
  return { status, headers, keepsAlive, framing }
}

const framingOf = (status: number, headers: ReadonlyMap<string, string>): Framing => {
  if (status === 204 || status === 304) return { by: 'length', length: 0 }
  const coding = headers.get('transfer-encoding')
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked')
      throw new BadAnswer(`The answer has the transfer coding '${coding}'`)
    return { by: 'chunks' }
  }
  const length = headers.get('content-length')
  if (length === undefined) return { by: 'close' }
  if (!/^\d{1,15}$/.test(length)) throw new BadAnswer(`The answer has the length '${length}'`)
  return { by: 'length', length: Number(length) }
}
