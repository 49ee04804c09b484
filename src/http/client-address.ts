/** An IP address as a number. An IPv4-mapped IPv6 address is an IPv4 address. */
type IpAddress = { readonly bits: 32 | 128; readonly value: bigint }

/** The addresses with the same first `length` bits. */
export type IpRange = IpAddress & { readonly length: number }

/** Parses an IP address; undefined: the text is not one. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const four = parseIpv4(text)
  if (four !== undefined) return { bits: 32, value: four }
  const six = parseIpv6(text)
  if (six === undefined) return undefined
  return six >> 32n === 0xffffn ? { bits: 32, value: six & 0xffffffffn } : { bits: 128, value: six }
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or a single address. undefined: the text is neither. */
export function parseIpRange(text: string): IpRange | undefined {
  const [name = '', digits, ...more] = text.split('/')
  const address = parseIpAddress(name)
  if (address === undefined || more.length > 0) return undefined
  if (digits === undefined) return { ...address, length: address.bits }
  // The prefix length of an IPv4-mapped address includes the 96 bits before the IPv4 part.
  const length = Number(digits) - (name.includes(':') && address.bits === 32 ? 96 : 0)
  return /^\d{1,3}$/.test(digits) && length >= 0 && length <= address.bits ? { ...address, length } : undefined
}

export function isInRange({ bits, value }: IpAddress, range: IpRange): boolean {
  const rest = BigInt(bits - range.length)
  return bits === range.bits && value >> rest === range.value >> rest
}

/** The address as text: `192.0.2.1`, or the eight groups of an IPv6 address. */
export function ipAddressText({ bits, value }: IpAddress): string {
  const [size, digits, between] = bits === 32 ? [8n, 10, '.'] : [16n, 16, ':']
  const groups = bits === 32 ? 4 : 8
  return Array.from({ length: groups }, (_, at) =>
    ((value >> (size * BigInt(groups - 1 - at))) & ((1n << size) - 1n)).toString(digits),
  ).join(between)
}

/**
 * The network to which a limit applies, as a text of at most 16 characters: an IPv4 address, or the first 64
 * bits of an IPv6 address. The other 64 belong to one household.
 */
export const toNetwork = ({ bits, value }: IpAddress): string =>
  bits === 32 ? value.toString(16).padStart(8, '0') : (value >> 64n).toString(16).padStart(16, '0')

function parseIpv4(text: string): bigint | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number)
  if (parts === undefined || parts.some(part => part > 255)) return undefined
  return parts.reduce((value, part) => value * 256n + BigInt(part), 0n)
}

function parseIpv6(text: string): bigint | undefined {
  // A zone identifies an interface of this machine.
  const [name = ''] = text.split('%', 1)
  const [, head, four] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(name) ?? []
  const last = four === undefined ? undefined : parseIpv4(four)
  if (four !== undefined && last === undefined) return undefined
  const whole = last === undefined ? name : `${head}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`
  const halves = whole.split('::')
  if (halves.length > 2) return undefined
  const groups = halves.map(half => (half === '' ? [] : half.split(':')))
  const [before = [], after = []] = groups
  const missing = 8 - before.length - after.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const all = [...before, ...Array<string>(missing).fill('0'), ...after]
  if (all.some(group => !/^[\da-fA-F]{1,4}$/.test(group))) return undefined
  return all.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n)
}

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
  /** Sets the idle timeout of a request's connection, until its answer has been sent; 0: none. */
  limitIdle(request: Request, seconds: number): void
  /** Whether a request's connection waits for more of its answer; false as well on a Unix socket, which does not tell. */
  isOpen(request: Request): boolean
}

/** Maximum number of clients in the cache of parsed addresses: the same clients send requests repeatedly. */
const KNOWN_CLIENTS = 1_024
const UNIX: Client = { address: 'unix', network: 'unix' }

export function clientAddresses(server: () => Server | null | undefined, trusted: readonly Trusted[]): ClientAddresses {
  const outers = new WeakMap<Request, Request>()
  const known = new Map<string, Client | undefined>()
  const findPeer = (request: Request) => server()?.requestIP(outers.get(request) ?? request)?.address
  return {
    of: request => {
      const peer = findPeer(request) ?? (server()?.url.protocol === 'unix:' ? 'unix' : undefined)
      if (peer === undefined) return undefined
      if (trusted.length > 0) return toClient(findClient(peer, request.headers, trusted))
      if (known.has(peer)) return known.get(peer)
      if (known.size >= KNOWN_CLIENTS) known.clear()
      const client = toClient(findClient(peer, request.headers, trusted))
      known.set(peer, client)
      return client
    },
    limitIdle: (request, seconds) => server()?.timeout(outers.get(request) ?? request, seconds),
    isOpen: request => findPeer(request) !== undefined,
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
type Peer = IpAddress | 'unix'
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
