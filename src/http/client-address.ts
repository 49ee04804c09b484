import { type IpAddress, type IpRange, ipAddressText, isInRange, parseIpAddress, toNetwork } from './ip-address.ts'

/** The client of a request. Both fields are `unix` when the request came over the Unix socket. */
export type Client = {
  readonly address: string
  /** The name of the client's network, to which limits apply (`toNetwork`). */
  readonly network: string
}

type Server = {
  readonly url: URL
  requestIP(request: Request): { readonly address: string } | null
  timeout(request: Request, seconds: number): void
}

export type ClientAddresses = {
  /** The client of a request; undefined: it is unknown, since the request came over no socket. */
  of(request: Request): Client | undefined
  /** Registers `inner` as the request that is answered in place of `outer`. Returns `inner`. */
  replace(inner: Request, outer: Request): Request
  /** Disables the idle timeout of a request's connection. */
  keepOpen(request: Request): void
}

/** Maximum number of clients in the cache of parsed addresses: the same clients send requests repeatedly. */
const KNOWN_CLIENTS = 1_024
const UNIX: Client = { address: 'unix', network: 'unix' }

export function clientAddresses(server: () => Server | null | undefined, trusted: readonly Trusted[]): ClientAddresses {
  const outers = new WeakMap<Request, Request>()
  const known = new Map<string, Client | undefined>()
  const peerOf = (request: Request): string | undefined => {
    const peer = server()?.requestIP(outers.get(request) ?? request)?.address
    return peer ?? (server()?.url.protocol === 'unix:' ? 'unix' : undefined)
  }
  return {
    of: request => {
      const peer = peerOf(request)
      if (peer === undefined) return undefined
      if (trusted.length > 0) return toClient(findClient(peer, request.headers, trusted))
      if (known.has(peer)) return known.get(peer)
      if (known.size >= KNOWN_CLIENTS) known.clear()
      const client = toClient(findClient(peer, request.headers, trusted))
      known.set(peer, client)
      return client
    },
    keepOpen: request => server()?.timeout(outers.get(request) ?? request, 0),
    replace: (inner, outer) => {
      outers.set(inner, outer)
      return inner
    },
  }
}

function toClient(peer: Peer | undefined): Client | undefined {
  if (peer === undefined) return undefined
  return peer === 'unix' ? UNIX : { address: ipAddressText(peer), network: toNetwork(peer) }
}

/** Maximum number of proxies in a row. Addresses before them come from the client and are ignored. */
const MAX_HOPS = 32

/** The other end of a connection: an address, or a program on the Unix socket of the service. */
export type Peer = IpAddress | 'unix'
/** Proxies whose client address headers are trusted. */
export type Trusted = IpRange | 'unix'

/**
 * The address of the client behind trusted proxies: the last one in `X-Forwarded-For`, or else in `Forwarded` (RFC
 * 7239), that is not a trusted proxy's. The addresses before it may be forged. An address that cannot be read counts as
 * the proxy that sent it. undefined: the peer is unknown. 'unix': no trusted proxy named an address.
 */
export function findClient(
  peer: string | undefined,
  headers: Pick<Headers, 'get'>,
  trusted: readonly Trusted[],
): Peer | undefined {
  let client: Peer | undefined = peer === 'unix' ? peer : parseIpAddress(peer ?? '')
  const isProxy = (one: Peer): boolean =>
    trusted.some(each => (one === 'unix' || each === 'unix' ? one === each : isInRange(one, each)))
  if (client === undefined || !isProxy(client)) return client
  for (const hop of parseHops(headers).slice(-MAX_HOPS).reverse()) {
    const address = parseIpAddress(withoutPort(hop))
    if (address === undefined) return client
    client = address
    if (!isProxy(client)) return client
  }
  return client
}

/** The address of a hop in `Forwarded`. It contains no space, so that spaces are tried in one way. */
const FORWARDED_FOR = /(?:^|;)\s*for=("?)([^"\s;,]*)\1\s*(?:;|$)/i

function parseHops(headers: Pick<Headers, 'get'>): readonly string[] {
  const plain = headers.get('x-forwarded-for')
  if (plain !== null) return plain.split(',').map(hop => hop.trim())
  const forwarded = headers.get('forwarded')
  if (forwarded === null) return []
  return forwarded.split(',').map(hop => FORWARDED_FOR.exec(hop.trim())?.[2] ?? '')
}

/** The address of a hop without its port: `1.2.3.4:567`, `[2001:db8::1]:567`, or an address alone. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop
