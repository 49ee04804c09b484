import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { getErrorMessage } from '#failure/failure.ts'

/** Hosts that are this machine itself: a proxy would ask another one. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/

/**
 * Sends a request over HTTP. `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` apply as everywhere, but never to this machine.
 * The body arrives as the server sent it; `readBody` unpacks it within a limit.
 */
export function fetchPeer(url: string | URL, options: BunFetchRequestInit): Promise<Response> {
  const { hostname } = new URL(url)
  const { env } = process
  // The runtime reads NO_PROXY only where no_proxy is absent or empty. A single request has no other way to say that it
  // needs no proxy.
  const exempt = env['no_proxy'] || env['NO_PROXY'] || ''
  if (LOOPBACK.test(hostname) && !exempt.split(',').includes(hostname)) env['no_proxy'] = `${exempt},${hostname}`
  return fetch(url, { ...options, decompress: false })
}

/** The only compression that a request may ask for: `readBody` limits what it unpacks to. */
export const ACCEPTED_CODING = 'gzip'

type BodyRoom = {
  /** Maximum size in bytes, both as sent and unpacked. */
  readonly most: number
  /** Reserves memory for further bytes; false: there is none. Nothing is received while it waits. */
  readonly grow?: (bytes: number) => boolean | Promise<boolean>
}

/** The reason why a body was not read. */
export class UnreadBody extends Error {
  readonly reason: 'too_large' | 'no_room' | 'coding'
  constructor(reason: UnreadBody['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Reads a body of `fetchPeer` and never holds more than twice the limit, whatever the server sends. The rest is not
 * read. Throws `UnreadBody`, and errors of the connection.
 */
export async function readBody(response: Response, room: BodyRoom): Promise<Uint8Array<ArrayBuffer>> {
  const coding = response.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  const isPacked = coding === ACCEPTED_CODING
  if (coding !== '' && coding !== 'identity' && !isPacked)
    throw new UnreadBody('coding', `the response is compressed as '${coding.slice(0, 40)}', which was not asked for`)
  const body = await readBytes(response, room)
  return isPacked && body.length > 0 ? unpackBody(body, room) : body
}

function refuseSize(most: number): UnreadBody {
  return new UnreadBody('too_large', `the response is over ${most} bytes`)
}

/**
 * Collects the parts in one buffer that doubles: a server could send bytes singly, and an object for each would take
 * more memory than the limit. A known length is allocated at once.
 */
async function readBytes(
  { body, headers }: Response,
  { most, grow = () => true }: BodyRoom,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body === null) return new Uint8Array()
  const length = headers.get('content-length') ?? ''
  const declared = /^\d{1,15}$/.test(length) ? Number(length) : undefined
  if (declared !== undefined && declared > most) throw refuseSize(most)
  const reserve = async (bytes: number): Promise<void> => {
    if (!(await grow(bytes))) throw new UnreadBody('no_room', 'responses to other requests use all available memory')
  }
  await reserve(declared ?? 0)
  let bytes = new Uint8Array(declared ?? 0)
  let filled = 0
  for await (const part of body as ReadableStream<Uint8Array>) {
    const end = filled + part.length
    if (end > most) throw refuseSize(most)
    if (end > bytes.length) {
      const larger = new Uint8Array(Math.min(most, Math.max(end, 2 * bytes.length)))
      await reserve(larger.length - bytes.length)
      larger.set(bytes.subarray(0, filled))
      bytes = larger
    }
    bytes.set(part, filled)
    filled = end
  }
  return bytes.subarray(0, filled)
}

const unpack = promisify(gunzip)

async function unpackBody(body: Uint8Array, { most }: BodyRoom): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { buffer, byteOffset, length } = await unpack(body, { maxOutputLength: most })
    return new Uint8Array(buffer as ArrayBuffer, byteOffset, length)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw refuseSize(most)
    throw new UnreadBody('coding', `the response cannot be unpacked as ${ACCEPTED_CODING}: ${getErrorMessage(error)}`)
  }
}
