import { Elysia } from 'elysia'
import { createAnswerCache, type WrittenAnswer } from '#actions/answer.ts'
import { createDayEndCache, createRankingCache } from '#actions/find/caches.ts'
import { selectLanguage } from '#actions/request/options.ts'
import type { Site } from '#explorer/page.ts'
import { Failure } from '#failure/failure.ts'
import { type Gate, refuseCrowded } from '#gate/gate.ts'
import { createAddressLimits } from '#gate/networks.ts'
import { createQueues } from '#gate/queues.ts'
import type { AppOptions } from './app-options.ts'
import { type Assets, pageAssets } from './assets.ts'
import { createHttpCounts, type HttpCounts } from './counts.ts'
import { documentHandlers, redirect } from './documents.ts'
import { type ClientAddresses, clientAddresses, type Handler, isRoutable, parse, type Service } from './exchange.ts'
import { explorerPages } from './explorer/routes.ts'
import { type OpenFeeds, openFeeds } from './feed/open-feeds.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { type Health, watchHealth } from './health.ts'
import { beforeRouting } from './methods.ts'
import { metricsHandler } from './metrics-app.ts'
import { answerApi, respond } from './request.ts'
import { rpcHandler } from './rpc.ts'
import { sampling, sendRefusal } from './send.ts'
import { healthHandler, readyHandler, usageHandler } from './status.ts'
import { statusHandler } from './status-page.tsx'

/** Request bodies are never read, so no length is refused. Bun itself would answer 413, without a body. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER
/** Limits of the idle timeout: a connection is closed after a request's deadline, but no later than Bun allows. */
const IDLE_SECONDS = { least: 30, most: 255, afterDeadline: 5 } as const

/**
 * The whole service as one Elysia app: `app.handle(request)` in tests, `app.listen` in production. Every path
 * has an answer, and none throws.
 */
export function createApp(options: AppOptions): Elysia<string> {
  const { basePath, deadlineMs, keyring, rates, clock } = options
  const { queues = createQueues(options), addresses = createAddressLimits(clock) } = options
  const app = emptyApp(basePath, deadlineMs)
  const clients = clientAddresses(() => app.server, options.trustedProxies ?? [])
  const service = createService(options, clients)
  const gate = { keyring, rates, clock, addresses, queues }
  const routes = createRoutes(options, { service, gate, feeds: openFeeds(options) })
  const refuseCrowd = crowdRefusal(gate, service)
  const get = (inner: Request, outer: Request) => app.handle(clients.replace(inner, outer))
  app
    .onRequest(
      ({ request }) =>
        refuseCrowd(request) ??
        (request.method === 'GET' && isRoutable(request.url)
          ? undefined
          : beforeRouting(request, { service, get: inner => get(inner, request) })),
    )
    .onError(({ request, error, code }) =>
      code === 'NOT_FOUND' ? routes.unknown(request) : respond('error', () => Promise.reject(error), service)(request),
    )
  for (const [path, answer] of routes.all) app.get(path, ({ request }) => answer(request))
  return app
}

type Parts = {
  readonly service: Service
  readonly gate: Gate
  readonly feeds: OpenFeeds
}

/** The handlers of all paths. */
function createRoutes(options: AppOptions, { service, gate, feeds }: Parts) {
  const { store, node, prices, priceHistory, profiles, rankingMs } = options
  const { defaults, basePath, clock, version, stallMs, maxLagMs, readyNeedsNode = false } = options
  const open = (route: string, handler: Handler) => respond(route, handler, service)
  const readHealth = watchHealth({ ...options, counts: service.counts })
  // Callers of the API and visitors of pages share cached data of the past.
  const answering = {
    store,
    node,
    head: options.head,
    prices,
    priceHistory,
    profiles,
    clock,
    rankingMs,
    rankings: createRankingCache(),
    dayEnds: createDayEndCache(),
  }
  const deps = { ...answering, cache: openAnswerCache(options, service.counts) }
  const assets = pageAssets()
  const site = createSite(options, assets)
  const api = open('api', answerApi({ deps, gate, defaults, stallMs, feeds }))
  const start = open('start', redirectToDocs(basePath))
  const unknown = open('unknown', notFound(options))
  const all: readonly (readonly [path: string, answer: (request: Request) => Promise<Response>])[] = [
    ['/api', api],
    ['/api/:module/:action', api],
    ['/rpc/*', open('rpc', rpcHandler(openGateway(options, service.counts), gate))],
    ['/health', open('health', healthHandler(version))],
    ['/ready', open('ready', readyHandler({ ...options, readHealth, maxLagMs, readyNeedsNode }))],
    ['/usage', open('usage', usageHandler(gate, defaults))],
    ['/docs', start],
    ...assets.all.map(({ name, handler }) => [`/assets/${name}`, open('asset', handler)] as const),
    ...[
      ...createDocuments(options, { site, files: assets.reference, ...gate }),
      ...pagesForOperators(options, { site, readHealth }),
    ].map(([path, { kind, handler }]) => [path, open(kind, handler)] as const),
    ...explorerPages({ ...options, ...answering, site }, { gate, feeds, service, start, unknown }),
  ]
  return { all, unknown }
}

/**
 * Refuses a request for which there is no room, before routing. The refusal is returned synchronously: an
 * overloaded service spends most of its time on refusals. undefined: the request is admitted.
 */
function crowdRefusal(gate: Gate, service: Service) {
  const [apiPath, rpcPath] = crowdedPaths(service.basePath)
  return (request: Request): Response | undefined => {
    const { store, node } = gate.queues
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

/**
 * The reference and its related documents. Examples are made without a node: stored data is enough, and pages
 * do not wait for one.
 */
const createDocuments = (
  { store, prices, profiles, clock, defaults, basePath }: AppOptions,
  { site, files, addresses }: Pick<Gate, 'addresses'> & { readonly site: Site; readonly files: Assets['reference'] },
) =>
  documentHandlers({ store, node: undefined, prices, profiles, clock }, { site, files, addresses, defaults, basePath })

const createSite = (
  { version, testKey, publicUrl, labels = new Map(), explorer = false }: AppOptions,
  { names }: Assets,
): Site => ({ version, testKey, publicUrl, labels, isExplored: explorer, assets: names })

type Page = { readonly kind: string; readonly handler: Handler }

/** The paths for operators. */
function pagesForOperators(
  options: AppOptions,
  own: { readonly site: Site; readonly readHealth: () => Promise<Health> },
): readonly (readonly [path: string, page: Page])[] {
  const { metrics, maxLagMs } = options
  const status = { kind: 'status', handler: statusHandler({ ...options, ...own, maxLagMs }) }
  return [
    ['/status', status],
    ...(metrics === undefined ? [] : [['/metrics', { kind: 'metrics', handler: metricsHandler(metrics) }] as const]),
  ]
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
    isLogged: sampling(logEach),
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

const notFound =
  ({ basePath, metrics }: AppOptions): Handler =>
  async ({ path }) => {
    const paths = metrics === undefined ? KNOWN_PATHS : [...KNOWN_PATHS, '/metrics']
    const known = paths.map(each => `${basePath}${each}`).join(', ')
    throw new Failure('not_found', `This path does not exist. Available paths: ${known}.`, {
      zh: `此路径不存在。可用路径：${known}。`,
      details: { path },
    })
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

/** The system router is off, because Bun's own router would bypass `onRequest`. */
const emptyApp = (basePath: string, deadlineMs: number): Elysia<string> =>
  new Elysia({
    prefix: basePath,
    systemRouter: false,
    nativeStaticResponse: false,
    serve: { maxRequestBodySize: MAX_BODY_BYTES, idleTimeout: idleSeconds(deadlineMs) },
  })
