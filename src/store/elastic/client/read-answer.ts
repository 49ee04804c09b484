import { type BodyRoom, readBody } from '#peer/read-body.ts'

/** Maximum size of an answer; pages and parts of scans have some MB. */
const MOST_BYTES = 96 * 1024 * 1024
/** Bytes of each answer that always have room. */
const FREE_BYTES = 1024 * 1024
/** Maximum size of all answers that this thread receives at once, beyond the free bytes of each. */
const MOST_BYTES_AT_ONCE = 96 * 1024 * 1024
let bytesAtOnce = 0

/** The text of an answer. A server may lie about its size: what this thread keeps of all answers is bounded. */
export async function readAnswer(response: Response): Promise<string> {
  let [held, counted] = [0, 0]
  const grow: BodyRoom['grow'] = bytes => {
    held += bytes
    const more = Math.max(0, held - FREE_BYTES) - counted
    if (bytesAtOnce + more > MOST_BYTES_AT_ONCE) return false
    counted += more
    bytesAtOnce += more
    return true
  }
  try {
    const { buffer, byteOffset, length } = await readBody(response, { most: MOST_BYTES, grow })
    return Buffer.from(buffer, byteOffset, length).toString('utf8')
  } finally {
    bytesAtOnce -= counted
  }
}
