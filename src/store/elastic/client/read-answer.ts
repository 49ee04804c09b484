/** Maximum size of an answer; pages and parts of scans have some MB. */
const MOST_BYTES = 96 * 1024 * 1024
/** Bytes of each answer that always have room. */
const FREE_BYTES = 1024 * 1024
/** Maximum size of all answers that this process receives at once, beyond the free bytes of each. */
const MOST_BYTES_AT_ONCE = 96 * 1024 * 1024
/** Bytes that a part of an answer takes by itself: a server may send single bytes. */
const PART_BYTES = 256
let bytesAtOnce = 0
const UTF8 = new TextDecoder()

/**
 * The text of an answer. A server may lie about its size: what this process keeps of all answers is bounded. After an
 * error the rest is not read, and the caller ends the request.
 */
export async function readAnswer(response: Response): Promise<string> {
  const { headers, body } = response
  const coding = headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity') throw new Error(`The answer is compressed as '${coding}', which was not asked for`)
  const length = headers.get('content-length')
  if (Number(length) > MOST_BYTES) throw new Error(`The answer has ${length} bytes`)
  if (body === null) return ''
  // The runtime reads no more than the length, in half the time.
  if (length !== null && Number(length) <= FREE_BYTES) return response.text()
  const reader = body.getReader()
  const parts: Uint8Array[] = []
  let [held, counted] = [0, 0]
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value)
      held += part.value.length + PART_BYTES
      if (held > MOST_BYTES) throw new Error(`The answer has more than ${MOST_BYTES} bytes`)
      const more = Math.max(0, held - FREE_BYTES) - counted
      if (bytesAtOnce + more > MOST_BYTES_AT_ONCE)
        throw new Error(`The answers to all requests have more than ${MOST_BYTES_AT_ONCE} bytes`)
      counted += more
      bytesAtOnce += more
    }
  } finally {
    bytesAtOnce -= counted
  }
  const [only] = parts
  // Most answers arrive in one part.
  return UTF8.decode(only !== undefined && parts.length === 1 ? only : Buffer.concat(parts))
}
