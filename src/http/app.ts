import { Elysia } from 'elysia'
import { createAnswerCache, type WrittenAnswer } from '#actions/answer.ts'
import { createDayEndCache, createRankingCache } from '#actions/find/caches.ts'
import { selectLanguage } from '#actions/request/options.ts'
import type { Site } from '#explorer/page.ts'
import { Failure } from '#failure/failure.ts'
import { type Gate, refuseCrowded } from '#gate/gate.ts'
import type { Exposition } from '#metrics/counters.ts'
import type { AppOptions } from './app-options.ts'
import { pageAssets } from './assets.ts'
import { createHttpCounts, type HttpCounts } from './counts.ts'
import { documentHandlers, redirect } from './documents.ts'
import {
  type ClientAddresses,
  clientAddresses,
  type Handler,
  isRoutable,
  parse,
  parseTarget,
  type Service,
} from './exchange.ts'
import { explorerPages } from './explorer/routes.ts'
import { openFeeds } from './feed/open-feeds.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { watchHealth } from './health.ts'
import { ALLOWED, COMMON_HEADERS, textReply } from './reply.ts'
import { answerApi, respond } from './request.ts'
import { rpcHandler } from './rpc.ts'
import { createSampling, sendRefusal } from './send.ts'
import { healthHandler, readyHandler, usageHandler } from './status.ts'
import { statusHandler } from './status-page.tsx'

/** Request bodies are never read, so no length is refused. Bun itself would answer 413, without a body. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER
/** Limits of the idle timeout: a connection is closed after a request's deadline, but no later than Bun allows. */
const IDLE_SECONDS = { least: 30, most: 255, afterDeadline: 5 } as const

/** Answers a GET. */
type Answerer = (request: Request) => Promise<Response>
type Route = readonly [path: string, answer: Answerer]

/** The system router is off, because Bun's own router would bypass `onRequest`. */
const ROUTER = { systemRouter: false, nativeStaticResponse: false } as const

/**
 * The whole service as one Elysia app: `app.handle(request)` in tests, `app.listen` in production. Every path
 * has an answer, and none throws.
 */
export function createApp(options: AppOptions): Elysia<string> {
  const { basePath, deadlineMs } = options
  const serve = { maxRequestBodySize: MAX_BODY_BYTES, idleTimeout: idleSeconds(deadlineMs) }
  const app: Elysia<string> = new Elysia({ ...ROUTER, prefix: basePath, serve })
  const clients = clientAddresses(() => app.server, options.trustedProxies ?? [])
  const service = createService(options, clients)
  const refuseCrowd = createCrowdGuard(options, service)
  return addRoutes(app, createRoutes(options, service), { clients, service, refuseCrowd })
}

/** `/metrics` on a separate address, with `/health` and no other path. */
export function createMetricsApp({
  metrics,
  version,
  ...own
}: Pick<Service, 'log' | 'clock' | 'counts'> & {
  readonly metrics: Exposition
  readonly version: string
}): Elysia<string> {
  const app: Elysia<string> = new Elysia<string>(ROUTER)
  const clients = clientAddresses(() => app.server, [])
  const service: Service = {
    ...own,
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
    // A slower scrape is useless.
    deadlineMs: 10_000,
    isLogged: () => false,
    clientOf: clients.of,
  }
  const unknown = respond('unknown', notFound(['/metrics', '/health']), service)
  const all: readonly Route[] = [
    ['/metrics', respond('metrics', metricsHandler(metrics), service)],
    ['/health', respond('health', healthHandler(version), service)],
    ['/*', unknown],
  ]
  return addRoutes(app, { all, unknown }, { clients, service })
}

/** Routes the requests of an app. `refuseCrowd`: refuses requests before routing. */
function addRoutes(
  app: Elysia<string>,
  { all, unknown }: { readonly all: readonly Route[]; readonly unknown: Answerer },
  {
    clients,
    service,
    refuseCrowd,
  }: {
    readonly clients: ClientAddresses
    readonly service: Service
    readonly refuseCrowd?: (request: Request) => Response | undefined
  },
): Elysia<string> {
  const refuseMethod = respond('method', methodNotAllowed, service)
  const failed = (error: unknown) => respond('error', () => Promise.reject(error), service)
  /** Unknown methods are refused, and HEAD is GET without the body. undefined: a GET for the routes. */
  const answerUnrouted = (request: Request): Promise<Response> | Response | undefined => {
    const { method, url } = request
    if (method === 'GET' && isRoutable(url)) return undefined
    if (method === 'OPTIONS') return createPreflight()
    if (method !== 'GET' && method !== 'HEAD') return refuseMethod(request)
    const response = app.handle(clients.replace(toRoutableGet(request), request))
    return method === 'GET' ? response : removeBody(response)
  }
  app
    .onRequest(({ request }) => refuseCrowd?.(request) ?? answerUnrouted(request))
    .onError(({ request, error, code }) => (code === 'NOT_FOUND' ? unknown : failed(error))(request))
  for (const [path, answer] of all) app.get(path, ({ request }) => answer(request))
  return app
}

/** The GET of a path that the router finds, whatever the method and the host of the request. */
function toRoutableGet({ method, url, headers: sent, signal }: Request): Request {
  const { path, query } = parseTarget(url)
  const headers = new Headers(sent)
  // No body is sent, so the end of the connection means nothing.
  if (method === 'HEAD') headers.delete('connection')
  return new Request(`http://host.invalid${path}${query === '' ? '' : `?${query}`}`, { headers, signal })
}

/** The handlers of all paths. */
function createRoutes(options: AppOptions, service: Service) {
  const { store, node, prices, priceHistory, profiles, rankingMs, clock } = options
  const { defaults, basePath, version, stallMs, maxLagMs, metrics } = options
  const open = (route: string, handler: Handler) => respond(route, handler, service)
  const readHealth = watchHealth({ ...options, counts: service.counts })
  const feeds = openFeeds(options)
  // Callers of the API and visitors of pages share cached data of the past.
  const caches = { rankings: createRankingCache(), dayEnds: createDayEndCache() }
  const answering = { store, node, head: options.head, prices, priceHistory, profiles, clock, rankingMs, ...caches }
  const deps = { ...answering, cache: openAnswerCache(options, service.counts) }
  const { names, reference: files, all: assets } = pageAssets()
  const { testKey, publicUrl, labels = new Map(), explorer: isExplored = false } = options
  const site: Site = { version, testKey, publicUrl, labels, isExplored, assets: names }
  // Examples are made without a node: stored data is enough, and pages do not wait for one.
  const documents = documentHandlers(
    { store, node: undefined, prices, profiles, clock },
    { site, files, addresses: options.addresses, defaults, basePath },
  )
  const api = open('api', answerApi({ deps, gate: options, defaults, stallMs, feeds }))
  const start = open('start', redirectToDocs(basePath))
  const known = metrics === undefined ? KNOWN_PATHS : [...KNOWN_PATHS, '/metrics']
  const unknown = open('unknown', notFound(known.map(path => `${basePath}${path}`)))
  const all: readonly Route[] = [
    ['/api', api],
    ['/api/:module/:action', api],
    ['/rpc/*', open('rpc', rpcHandler(openGateway(options, service.counts), options))],
    ['/health', open('health', healthHandler(version))],
    ['/ready', open('ready', readyHandler({ ...options, readHealth }))],
    ['/usage', open('usage', usageHandler(options, defaults))],
    ['/docs', start],
    ['/status', open('status', statusHandler({ version, clock, site, readHealth, maxLagMs }))],
    ...(metrics === undefined ? [] : [['/metrics', open('metrics', metricsHandler(metrics))] as const]),
    ...assets.map(({ name, handler }) => [`/assets/${name}`, open('asset', handler)] as const),
    ...[...documents].map(([path, { kind, handler }]) => [path, open(kind, handler)] as const),
    ...explorerPages({ ...answering, stallMs, maxLagMs, site }, { gate: options, feeds, service, start, unknown }),
  ]
  return { all, unknown }
}

/**
 * Refuses a request for which there is no room, before routing. The refusal is returned synchronously: an
 * overloaded service spends most of its time on refusals. undefined: the request is admitted.
 */
function createCrowdGuard(gate: Gate, service: Service) {
  const [apiPath, rpcPath] = crowdedPaths(service.basePath)
  const { store, node } = gate.queues
  return (request: Request): Response | undefined => {
    const target =
      store.isCrowded() && isGetMatch(request, apiPath)
        ? 'store'
        : node.isCrowded() && isGetMatch(request, rpcPath)
          ? 'node'
          : undefined
    if (target === undefined) return undefined
    const exchange = parse(request, target === 'store' ? 'api' : 'rpc', service)
    const failure = refuseCrowded(exchange, target, gate)
    return failure === undefined ? undefined : sendRefusal(exchange, failure, service)
  }
}

function createService(options: AppOptions, clients: ClientAddresses): Service {
  const { log, defaults, basePath, deadlineMs, clock, stopping, counts = createHttpCounts(), logEach = 1 } = options
  return {
    log,
    defaults,
    basePath,
    deadlineMs,
    clock,
    counts,
    stopping,
    clientOf: clients.of,
    connections: clients,
    isLogged: createSampling(logEach),
  }
}

/** Patterns of the URLs of queries and of the gateway, equal to their routes. */
function crowdedPaths(basePath: string): readonly [api: RegExp, rpc: RegExp] {
  const origin = `^https?://[^/?#]{4,}${RegExp.escape(basePath)}`
  return [new RegExp(`${origin}/api(?:/[^/?#]+/[^/?#]+)?/?(?:[?#]|$)`), new RegExp(`${origin}/rpc/`)]
}

const isGetMatch = ({ method, url }: Request, path: RegExp): boolean => method === 'GET' && path.test(url)

function idleSeconds(deadlineMs: number): number {
  const { least, most, afterDeadline } = IDLE_SECONDS
  return Math.min(most, Math.max(least, Math.ceil(deadlineMs / 1_000) + afterDeadline))
}

const KNOWN_PATHS = [
  '/api/',
  '/api/{module}/{action}',
  '/rpc/',
  '/docs',
  '/openapi.json',
  '/usage',
  '/status',
  '/health',
  '/ready',
]

/** Refuses a path that is not one of `paths`. */
const notFound =
  (paths: readonly string[]): Handler =>
  async ({ path }) => {
    const known = paths.join(', ')
    throw new Failure('not_found', `This path does not exist. Available paths: ${known}.`, {
      zh: `此路径不存在。可用路径：${known}。`,
      details: { path },
    })
  }

const methodNotAllowed: Handler = async ({ request }) => {
  throw new Failure('method_not_allowed', `Method ${request.method} is not supported; use GET.`, {
    zh: `不支持 ${request.method} 方法；请使用 GET。`,
  })
}

/** `/metrics`: the counts of the process, in the text format of Prometheus. */
const metricsHandler =
  ({ type, text }: Exposition): Handler =>
  async () =>
    textReply(200, { type, text: await text() }, { headers: { 'Cache-Control': 'no-store' }, form: 'tagged' })

const createPreflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...COMMON_HEADERS,
      Allow: ALLOWED,
      'Access-Control-Allow-Methods': ALLOWED,
      'Access-Control-Allow-Headers': 'X-API-Key, If-None-Match, Last-Event-ID, Accept-Language, Content-Type',
      // A day: the allowed methods do not change while the service runs.
      'Access-Control-Max-Age': '86400',
    },
  })

/**
 * The response to HEAD has the headers of the GET, including the length. A streamed body has no length, and
 * Bun would send 0 (RFC 9110 8.6 allows only the length of the GET).
 */
async function removeBody(response: Response | Promise<Response>): Promise<Response> {
  const { status, headers, body } = await response
  if (body !== null && !headers.has('content-length')) headers.set('Transfer-Encoding', 'chunked')
  await body?.cancel()
  return new Response(null, { status, headers })
}

/** Redirects to the reference in the reader's language. */
const redirectToDocs =
  (basePath: string): Handler =>
  async ({ query, path, request }) => {
    const lang = selectLanguage(query, request.headers.get('accept-language') ?? undefined)
    // The prefix without a trailing slash is one level above the paths below it.
    const from = path === '' ? `${basePath.slice(basePath.lastIndexOf('/') + 1)}/` : ''
    return redirect(path === '/docs/' ? lang : `${from}docs/${lang}`, { Vary: 'Accept-Language' })
  }

/** Upper bound of the bytes per character of a stored string. */
const BYTES_OF_CHARACTER = 2

const openAnswerCache = ({ keptBytes = 0 }: AppOptions, counts: HttpCounts) =>
  keptBytes === 0
    ? undefined
    : createAnswerCache<WrittenAnswer>({
        maxCharacters: keptBytes / BYTES_OF_CHARACTER,
        onAnswer: source => counts.answers.add(1, source),
      })

/** Maximum bytes of cached node answers. */
const KEPT_BYTES = 16 * 1024 * 1024

const openGateway = ({ node, clock }: AppOptions, counts: HttpCounts): Gateway | undefined =>
  node === undefined
    ? undefined
    : createGateway(node, {
        clock,
        maxBytes: KEPT_BYTES,
        onAnswer: source => counts.gatewayAnswers.add(1, source),
        onKept: bytes => counts.gatewayBytes.set(bytes),
      })
