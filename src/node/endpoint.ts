import { lookup } from 'node:dns/promises'
import type { ArchiveAnswer, ArchiveCall } from '#archive/answers.ts'
import { buildAuthorization } from '#archive/authorization.ts'
import { Failure } from '#failure/failure.ts'

/** The address of a node. */
export type Endpoint = {
  /** URL without user and password, for messages. */
  readonly name: string
  /** URL to which paths are appended, without credentials and without a trailing slash. */
  readonly base: string
  /** The `Authorization` header if the URL has user and password. */
  readonly headers: Readonly<Record<string, string>>
  /** Set for an archive of blocks, which answers in place of a server. */
  readonly answers?: (call: ArchiveCall, most: number) => Promise<ArchiveAnswer | 'too_large'>
}

const HELP = 'A node URL has the form http(s)://[user:password@]host[:port][/path].'

/**
 * Parses a node's URL. The given text never appears in a message, since it may contain a password. Throws
 * Failure 'usage'.
 */
export function parseEndpoint(text: string): Endpoint {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Failure('usage', 'A node URL must begin with http:// or https://.', { help: HELP })
  if (url.search !== '' || url.hash !== '')
    throw new Failure('usage', `Node URL ${url.origin}${url.pathname} has a query or fragment, which is not allowed.`, {
      help: HELP,
    })
  const base = `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`
  return { name: base, base, headers: buildAuthorization(url) }
}

/**
 * Throws Failure 'unavailable' if no host name of the nodes exists. This is often a typing error, so it is reported at
 * once; but a name may also exist a little later, as that of a service that starts. A name server that does not answer
 * proves nothing about a name.
 */
export async function requireKnownHosts(urls: readonly string[]): Promise<void> {
  // An archive that does not exist is reported when it is opened.
  if (urls.some(url => url.startsWith('archive:'))) return
  const hosts = urls.map(url => new URL(url).hostname.replace(/^\[|\]$/g, ''))
  const exist = await Promise.all(hosts.map(exists))
  if (exist.includes(true)) return
  throw new Failure('unavailable', `The host name in --node is unknown: ${hosts.join(', ')}.`, {
    help: 'Check --node (IOSTLENS_NODE). An example is http://127.0.0.1:30001.',
  })
}

async function exists(host: string): Promise<boolean> {
  try {
    await lookup(host)
    return true
  } catch (error) {
    return (error as { readonly code?: unknown }).code !== 'ENOTFOUND'
  }
}
