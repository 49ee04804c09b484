import ipaddr from 'ipaddr.js'
import { OPTION_VALUES, type OptionDefaults, selectLanguage } from '#actions/request/options.ts'
import { IGNORED, type Query } from '#actions/request/query.ts'
import { badRequest, quoteGiven } from '#actions/request/refusals.ts'
import { Failure, type Log } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import type { AccessLogFields, HttpCounts } from './counts.ts'
import type { Reply, ReplyOptions } from './reply.ts'
import type { Stopping } from './stopping.ts'

/** An IP address. An IPv4-mapped IPv6 address is an IPv4 address. */
type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** The addresses with the same first `length` bits. */
export type IpRange = { readonly address: IpAddress; readonly length: number }

/** Parses an IP address; undefined: the text is not one, such as an IPv4 address with leading zeros. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  // A zone identifies an interface of this machine.
  const [name = ''] = text.split('%', 1)
  return ipaddr.IPv6.isValid(name) ? ipaddr.process(name) : undefined
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or a single address. undefined: the text is neither. */
export function parseIpRange(text: string): IpRange | undefined {
  const [name = '', digits, ...more] = text.split('/')
  const address = parseIpAddress(name)
  if (address === undefined || more.length > 0) return undefined
  const bits = 8 * address.toByteArray().length
  if (digits === undefined) return { address, length: bits }
  // The prefix length of an IPv4-mapped address includes the 96 bits before the IPv4 part.
  const length = Number(digits) - (name.includes(':') && bits === 32 ? 96 : 0)
  return /^\d{1,3}$/.test(digits) && length >= 0 && length <= bits ? { address, length } : undefined
}

export const isInRange = (one: IpAddress, { address, length }: IpRange): boolean =>
  one.kind() === address.kind() && one.match(address, length)

/** The address as text: `192.0.2.1`, or the eight groups of an IPv6 address. */
export const ipAddressText = (address: IpAddress): string => address.toNormalizedString()

/**
 * The network to which a limit applies, as a text of at most 16 characters: an IPv4 address, or the first 64
 * bits of an IPv6 address. The other 64 belong to one household.
 */
export const toNetwork = (address: IpAddress): string => Buffer.from(address.toByteArray().slice(0, 8)).toString('hex')

/** The client of a request. Both fields are `unix` when the request came over the Unix socket. */
type Client = {
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
    const address = parseIpAddress(removePort(hop))
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
const removePort = (hop: string): string =>
  /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop

/** Path and query of a request, undecoded. */
type Target = {
  readonly path: string
  /** Text after the `?`, without it; `""` when there is none. */
  readonly query: string
}

/**
 * Splits a request's URL without a parser. When the Host header is missing or invalid, Bun passes a URL that
 * parsers reject (`/api/` alone, `http://[::1/api/`), and such a request has a path all the same.
 */
export function parseTarget(url: string): Target {
  const rest = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const [whole = ''] = rest.split('#', 1)
  const mark = whole.indexOf('?')
  const path = mark === -1 ? whole : whole.slice(0, mark)
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : whole.slice(mark + 1) }
}

/**
 * Whether Elysia finds the path in this URL. It searches for the first `/` from character 11 on, so a host of
 * fewer than 4 characters hides the path (`http://a/api/`).
 */
export const isRoutable = (url: string): boolean => /^https?:\/\/[^/?#]{4}/.test(url)

/** Maximum number of parameters, more than any call needs. */
export const MAX_PARAMETERS = 64
/** Maximum bytes of a query. Bun itself answers 431 when all headers together exceed 16 KiB. */
const MAX_QUERY_BYTES = 8_192

const tooLong = (length: number): Failure =>
  new Failure('uri_too_long', `The URL has ${length} bytes; the limit is ${MAX_QUERY_BYTES} bytes.`, {
    zh: `URL 长度为 ${length} 字节；上限为 ${MAX_QUERY_BYTES} 字节。`,
  })

export type QueryText = {
  /** The parameters in order, decoded, without `apikey`. */
  readonly query: Query
  /** Values of `apikey`, in order. */
  readonly keys: readonly string[]
  /** The syntax error of the query. It is thrown only after the key was accepted, so that a stranger learns nothing. */
  readonly fault: Failure | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the raw text of a query: pairs separated by `&`, `+` is a space, percent escapes must be complete
 * and their bytes UTF-8. No input is dropped: text that a lenient parser would accept unchanged is a fault
 * that names the parameter.
 */
export function parseQuery(text: string): QueryText {
  const query: [string, string][] = []
  const keys: string[] = []
  let fault: Failure | undefined
  const pieces = text.split('&').filter(piece => piece !== '')
  if (pieces.length > MAX_PARAMETERS) fault = tooMany(pieces.length)
  for (const piece of pieces) {
    const { name, value } = parsePair(piece)
    if (name === undefined) fault ??= badName(piece.split('=', 1)[0] ?? '')
    else if (name === '') fault ??= noName()
    else if (name === 'apikey') keys.push(value ?? '')
    else if (value === undefined) fault ??= badValue(name)
    else query.push([name, value])
  }
  return { query, keys, fault }
}

/** Name and value of a pair; undefined: it cannot be decoded. The value is "" without a `=`. */
function parsePair(piece: string) {
  const mark = piece.indexOf('=')
  const name = mark === -1 ? piece : piece.slice(0, mark)
  const value = mark === -1 ? '' : piece.slice(mark + 1)
  return /[+%]/.test(piece) ? { name: decodeQueryText(name), value: decodeQueryText(value) } : { name, value }
}

/** Decodes a text; undefined: a broken escape, or bytes that are not UTF-8. */
function decodeQueryText(text: string): string | undefined {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  if (/%(?![0-9A-Fa-f]{2})/.test(spaced)) return undefined
  const bytes: number[] = []
  for (const part of spaced.split(/(%[0-9A-Fa-f]{2})/))
    if (part.startsWith('%')) bytes.push(Number.parseInt(part.slice(1), 16))
    else bytes.push(...new TextEncoder().encode(part))
  try {
    return decoder.decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}

const RULE = {
  en: 'each % must be followed by two hexadecimal digits, and the bytes must be UTF-8',
  zh: '每个 % 后必须是两位十六进制数字，且字节必须是 UTF-8',
}

const badValue = (name: string): Failure =>
  badRequest(
    {
      en: `Parameter ${quoteGiven(name)} is not encoded correctly: ${RULE.en}.`,
      zh: `参数 ${quoteGiven(name)} 的编码不正确：${RULE.zh}。`,
    },
    { parameter: name },
  )

const badName = (raw: string): Failure =>
  badRequest({
    en: `Parameter name ${quoteGiven(raw)} is not encoded correctly: ${RULE.en}.`,
    zh: `参数名 ${quoteGiven(raw)} 的编码不正确：${RULE.zh}。`,
  })

const noName = (): Failure =>
  badRequest({ en: 'A parameter has no name before the =.', zh: '有一个参数缺少名称（= 之前为空）。' })

const tooMany = (count: number): Failure =>
  badRequest({
    en: `The query has ${count} parameters; the limit is ${MAX_PARAMETERS}.`,
    zh: `查询字符串中有 ${count} 个参数；上限为 ${MAX_PARAMETERS} 个。`,
  })

/** The client closed the connection, so the answer has no reader. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection.')
    this.name = 'ClientGone'
  }
}

/** A request that is being answered. */
export type Exchange = QueryText & {
  readonly request: Request
  /** The route's name in the log and the counts. */
  readonly route: string
  /** The path without the prefix of the service; `""`: the prefix itself, without a trailing slash. */
  readonly path: string
  /** Identifies the request in answers and logs. */
  readonly id: string
  /** undefined: the client is unknown, since the request came over no socket. */
  readonly client: Client | undefined
  readonly replyOptions: ReplyOptions
  /** Headers of the answer, success or failure, that were set before the handler's. */
  readonly headers: Record<string, string>
  readonly logFields: AccessLogFields
  /** Time of arrival, by the clock of the service. */
  readonly started: number
  /** The reason for which the request is refused unread. */
  readonly refusal: Failure | undefined
}

/**
 * Extends the deadline, from now on, to `ms` plus the usual time; undefined: no limit. The returned function
 * ends the extension. Once all extensions have ended, the rest of the work has the usual time, from then on.
 */
export type Prolong = (ms: number | undefined) => () => void

/** Makes the reply to a request; a thrown failure is the reply, too. `prolong` extends the deadline. */
export type Handler = (exchange: Exchange, signal: AbortSignal, prolong: Prolong) => Promise<Reply>

/** The settings that all requests of a service share. */
export type Service = {
  readonly log: Log
  readonly defaults: OptionDefaults
  /** Path prefix of the service, such as `/iost`; `""`: none. */
  readonly basePath: string
  readonly deadlineMs: number
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly counts: HttpCounts
  /** Absent: the service never stops. */
  readonly stopping?: Stopping | undefined
  /** Whether the next success is logged in the access log. */
  readonly isLogged: () => boolean
  readonly clientOf: (request: Request) => Client | undefined
  /** The connections of requests; absent: there are none. */
  readonly connections?: Pick<ClientAddresses, 'limitIdle' | 'isOpen'>
  /** Writes a failure; absent, or undefined for a failure: in the form of the API. */
  readonly writeFailure?: (exchange: Exchange, failure: Failure) => Promise<Reply | undefined>
}

/** Parses a request. Faults are stored in `refusal` and `fault`, and thrown by the step responsible for them. */
export function parse(
  request: Request,
  route: string,
  { defaults, basePath, clock, clientOf }: Pick<Service, 'defaults' | 'basePath' | 'clock' | 'clientOf'>,
): Exchange {
  const started = clock.elapsed()
  const { path, query } = parseTarget(request.url)
  // A request that is too long is refused in the language that the first part of its query names.
  const parsed = parseQuery(query.slice(0, MAX_QUERY_BYTES))
  const acceptLanguage = request.headers.get('accept-language') ?? undefined
  const header = request.headers.get('x-api-key')
  const requested = parsed.query.find(([name]) => name === 'format')?.[1]
  const lang = selectLanguage(parsed.query, acceptLanguage)
  const length = Math.max(path.length, query.length)
  return {
    ...parsed,
    request,
    route,
    // A path without the prefix is not changed: no route has it.
    path: path === basePath || path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path,
    // 64 random bits: enough to identify a request in a log.
    id: crypto.getRandomValues(new Uint8Array(8)).toHex(),
    // Read now: the address is unknown once the connection is closed.
    client: clientOf(request),
    replyOptions: {
      lang,
      // Failures have the requested format, or the default when it is not a valid one.
      format: OPTION_VALUES.format.find(value => value === requested) ?? defaults.format,
      secrets: [...parsed.keys, header ?? ''],
    },
    headers: {},
    logFields: {},
    started,
    refusal: length > MAX_QUERY_BYTES ? tooLong(length) : undefined,
  }
}

const OPTIONS = Object.keys(OPTION_VALUES)

/** For paths without parameters of their own: refuses all parameters except the options of every call. */
export function refuseParameters({ query }: Pick<Exchange, 'query'>, path: string): void {
  const names = ['apikey', ...OPTIONS]
  for (const [name] of query)
    if (!OPTIONS.includes(name) && !IGNORED.includes(name))
      throw badRequest({
        en: `Unknown parameter ${quoteGiven(name)}; ${path} takes ${names.join(', ')}.`,
        zh: `未知参数 ${quoteGiven(name)}；${path} 的参数为 ${names.join('、')}。`,
      })
}
