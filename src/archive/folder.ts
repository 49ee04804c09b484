import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, getErrorMessage } from '#failure/failure.ts'
import { fetchPeer, readBody, UnreadBody } from '#peer/fetch-peer.ts'
import { damagedFile } from './format.ts'

/** The `Authorization` header for the user and password in a URL; no header when the URL has neither. */
export function buildAuthorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** Read access to the files of an archive, local or remote. */
export type Folder = {
  /** A path, or a URL without user and password, for messages. */
  readonly name: string
  /** The text of a whole file. Throws Failure 'usage' when it does not exist, 'unavailable' when it is out of reach. */
  text(file: string): Promise<string>
  /**
   * Bytes `from` … `to` − 1 of a file. Throws Failure 'damaged' when the file is shorter or does not exist,
   * 'unavailable' when it is out of reach.
   */
  bytes(file: string, from: number, to: number): Promise<Uint8Array>
}

/** The folder of an archive: a path, or an http(s) URL whose server supports range requests. */
export const openFolder = (location: string): Folder =>
  /^https?:\/\//.test(location) ? remoteFolder(location) : localFolder(location)

const localFolder = (path: string): Folder => ({
  name: path,
  text: async name => {
    const where = join(path, name)
    try {
      const { size } = await stat(where)
      if (size > MAX_FILE_BYTES) throw tooLong(where)
      return await readFile(where, 'utf8')
    } catch (cause) {
      if (cause instanceof Failure) throw cause
      throw isMissing(cause) ? noArchive(path, name, cause) : unreadable(where, cause)
    }
  },
  bytes: async (name, from, to) => {
    const where = join(path, name)
    const part = await Bun.file(where)
      .slice(from, to)
      .bytes()
      .catch((cause: unknown) => {
        throw isMissing(cause) ? damagedFile(where, 'it is missing') : unreadable(where, cause)
      })
    if (part.byteLength !== to - from) throw damagedFile(where, `it ends before byte ${to}`)
    return part
  },
})

/** Whether there is no such file, not even its folder. */
export function isMissing(cause: unknown): boolean {
  const { code } = cause as { readonly code?: unknown }
  return code === 'ENOENT' || code === 'ENOTDIR'
}

const noArchive = (where: string, name: string, cause: unknown): Failure =>
  new Failure('usage', `${where} is not an archive of blocks: it has no ${name}.`, {
    help: "'iostlens archive write' makes one.",
    cause,
  })

const unreadable = (where: string, cause: unknown): Failure =>
  new Failure('unavailable', `${where} cannot be read: ${getErrorMessage(cause)}.`, {
    cause,
  })

/** Some servers answer 401 or 403 for a file that they do not have. */
const denied = (where: string, status: number): Failure =>
  new Failure('usage', `${where}: the server answers with status ${status}.`, {
    help: 'Check that the file is there, and the user and password in the address (https://USER:PASSWORD@HOST/PATH).',
  })

const isGone = ({ status }: Response): boolean => status === 404 || status === 410

/** Timeout for reading one part of a file, some megabytes. */
const TIMEOUT_MS = 60_000

/**
 * Maximum size of a file that is read whole: a manifest of 50,000 files, as an archive of mainnet would have,
 * takes some 25 MB.
 */
const MAX_FILE_BYTES = 64 * 1024 * 1024

const tooLong = (where: string): Failure => damagedFile(where, `it has more than ${MAX_FILE_BYTES} bytes`)

function remoteFolder(location: string): Folder {
  const url = new URL(location.endsWith('/') ? location : `${location}/`)
  const headers = buildAuthorization(url)
  url.username = ''
  url.password = ''
  const name = url.href.replace(/\/$/, '')
  /** Texts of files with their ETags: these files are requested often and seldom change. */
  const known = new Map<string, { readonly etag: string; readonly text: string }>()
  const ask = async (file: string, more: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const where = `${name}/${file}`
    try {
      const response = await fetchPeer(new URL(file, url), {
        headers: { ...headers, ...more, 'accept-encoding': 'identity' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      if (response.status >= 500 || response.status === 429)
        throw new Failure('unavailable', `${where}: the server answers with status ${response.status}.`)
      if (response.status === 401 || response.status === 403) throw denied(where, response.status)
      return response
    } catch (cause) {
      throw cause instanceof Failure ? cause : unreadable(where, cause)
    }
  }
  return {
    name,
    text: async file => {
      const before = known.get(file)
      const response = await ask(file, before === undefined ? {} : { 'if-none-match': before.etag })
      if (before !== undefined && response.status === 304) return before.text
      const where = `${name}/${file}`
      if (isGone(response)) throw noArchive(name, file, response.status)
      if (response.status !== 200)
        throw new Failure('usage', `${where}: the server answers with status ${response.status}.`)
      const body = await readBoundedBody(response, MAX_FILE_BYTES, where)
      if (body === undefined) throw tooLong(where)
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
      const etag = response.headers.get('etag')
      if (etag !== null) known.set(file, { etag, text })
      return text
    },
    bytes: async (file, from, to) => {
      const where = `${name}/${file}`
      const response = await ask(file, { range: `bytes=${from}-${to - 1}` })
      if (isGone(response)) throw damagedFile(where, 'it is missing')
      if (response.status === 416) throw damagedFile(where, `it ends before byte ${to}`)
      if (response.status !== 206)
        throw new Failure(
          'usage',
          `${where}: the server answers a request for a range of bytes with status ${response.status}.`,
          { help: 'Use a server that answers range requests with status 206.' },
        )
      const part = await readBoundedBody(response, to - from, where)
      if (part === undefined)
        throw damagedFile(where, `the server returned more than the ${to - from} bytes requested from byte ${from} on`)
      if (part.byteLength !== to - from) throw damagedFile(where, `it ends before byte ${to}`)
      return part
    },
  }
}

/**
 * The body of a response; undefined when it has more than `most` bytes, and the rest is not read. Throws 'unavailable'.
 */
async function readBoundedBody(response: Response, most: number, where: string): Promise<Uint8Array | undefined> {
  try {
    return await readBody(response, { most })
  } catch (cause) {
    if (cause instanceof UnreadBody && cause.reason === 'too_large') return undefined
    throw unreadable(where, cause)
  }
}
