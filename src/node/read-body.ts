import type { Hold } from './budget.ts'

/**
 * The body of an answer, read within a limit and counted as it comes in; a body over the limit, or without room, is
 * left unread. If the length is given, memory for it is taken at once, so that the bytes are never there twice.
 */
export const readBody = async (
  response: Response,
  maxBytes: number,
  hold: Hold,
): Promise<Uint8Array<ArrayBuffer> | 'too_large' | 'no_room'> => {
  if (response.body === null) return new Uint8Array()
  const told = toldLength(response)
  if (told !== undefined && told > maxBytes) return 'too_large'
  return told === undefined ? readParts(response.body, maxBytes, hold) : readInto(response.body, told, hold)
}

/** Length of the body as it will be read; undefined when the header gives another one, or none. */
const toldLength = ({ headers }: Response): number | undefined => {
  const text = headers.get('content-length')
  return text !== null && /^\d{1,15}$/.test(text) && !headers.has('content-encoding')
    ? Number(text)
    : undefined
}

const readInto = async (
  stream: ReadableStream<Uint8Array>,
  length: number,
  hold: Hold,
): Promise<Uint8Array<ArrayBuffer> | 'no_room'> => {
  if (!hold.grow(length)) return 'no_room'
  const body = new Uint8Array(length)
  let at = 0
  for await (const part of stream) {
    // HTTP ends a body at its length.
    body.set(part, at)
    at += part.byteLength
  }
  return at === length ? body : body.slice(0, at)
}

const readParts = async (
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  hold: Hold,
): Promise<Uint8Array<ArrayBuffer> | 'too_large' | 'no_room'> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of stream) {
    bytes += part.byteLength
    if (bytes > maxBytes) return 'too_large'
    // Twice: once in parts, once in one piece.
    if (!hold.grow(2 * part.byteLength)) return 'no_room'
    parts.push(part)
  }
  const body = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    body.set(part, at)
    at += part.byteLength
  }
  return body
}
