import { Elysia } from 'elysia'
import type { WrittenAnswer } from '#actions/answer.ts'
import { keptAnswers } from '#actions/kept-answers.ts'
import { languageFor } from '#actions/request/options.ts'
import { Failure } from '#failure/failure.ts'
import { crowdedOut } from '#gate/gate.ts'
import { addressLimits } from '#gate/networks.ts'
import { localCounts, queuesFor } from '#gate/queues.ts'
import { sampling } from './access-log.ts'
import { type ApiOptions, apiHandler } from './api.ts'
import type { AppOptions } from './app-options.ts'
import { type HttpCounts, ownHttpCounts } from './counts.ts'
import { documentHandlers, redirect } from './documents.ts'
import { type Answering, answering, type Handler, refusing } from './exchange.ts'
import { explorerPages } from './explorer/routes.ts'
import { openFeeds } from './feed/open-feeds.ts'
import { createGateway, type Gateway } from './gateway/gateway.ts'
import { beforeRouting } from './methods.ts'
import { metricsHandler } from './metrics.ts'
import { originOf } from './origin.ts'
import { rpcHandler } from './rpc.ts'
import { healthHandler, readyHandler } from './status.ts'
import { statusHandler } from './status-page/handler.ts'
import { usageHandler } from './usage.ts'

/** No body is ever read, so none is too long: Bun itself would answer 413, without a body of its own. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER
/** A connection on which nothing moves is closed: after a request's deadline, but no later than Bun allows. */
const IDLE_SECONDS = { least: 30, most: 255, afterDeadline: 5 } as const

/**
 * The whole service as one Elysia app: `app.handle(request)` in tests, `app.listen` for real. Every path answers; none
 * throws.
 */
export const createApp = (options: AppOptions): Elysia<string> => {
  const { store, node, prices, profiles, defaults, basePath, deadlineMs, clock, version } = options
  const origin = originOf(() => app.server, options.trustedProxies ?? [])
  const common = answeringOf(options, origin.clientOf)
  const { places = localCounts(options).queues } = options
  const queues = queuesFor(places, { deadlineMs, clock })
  const gate = { ...gateOf(options), queues, networkOf: origin.networkOf }
  const open = (route: string, handler: Handler) => answering(route, handler, common)
  const deps = { store, node, head: options.head, prices, profiles, clock }
  const { threads } = places.store
  const feeds = openFeeds(options)
  const api = open('api', apiHandler(deps, gate, { ...apiOptionsOf(options, threads, common.counts), feeds }))
  const rpc = open('rpc', rpcHandler(gatewayOf(options, threads, common.counts), gate))
  const documents = documentsOf(options)
  const handlers = {
    health: open('health', healthHandler(version)),
    ready: open('ready', readyHandler({ ...options, maxLagMs: options.maxLagMs })),
    usage: open('usage', usageHandler(gate, defaults)),
    start: open('start', redirectToDocs(basePath)),
    unknown: open('unknown', notFound(options)),
  }
  const refusals = {
    api: refusing('api', crowdedOut('store', gate), common),
    rpc: refusing('rpc', crowdedOut('node', gate), common),
  }
  const [apiPath, rpcPath] = crowdedPaths(basePath)
  /** A request for which there is no room is refused before the routes are looked at. */
  const refuseCrowd = (request: Request): Response | undefined => {
    if (queues.store.isCrowded() && isFor(request, apiPath)) return refusals.api(request)
    if (queues.node.isCrowded() && isFor(request, rpcPath)) return refusals.rpc(request)
    return undefined
  }
  const app = emptyApp(basePath, deadlineMs)
  app
    .onRequest(
      ({ request }) =>
        refuseCrowd(request) ??
        beforeRouting(request, {
          answering: common,
          get: inner => app.handle(origin.replace(inner, request)),
        }),
    )
    .get('/api', ({ request }) => api(request))
    .get('/api/:module/:action', ({ request }) => api(request))
    .get('/rpc/*', ({ request }) => rpc(request))
    .get('/health', ({ request }) => handlers.health(request))
    .get('/ready', ({ request }) => handlers.ready(request))
    .get('/usage', ({ request }) => handlers.usage(request))
    .get('/docs', ({ request }) => handlers.start(request))
    .onError(({ request, error, code }) =>
      code === 'NOT_FOUND' ? handlers.unknown(request) : open('error', () => Promise.reject(error))(request),
    )
  const pages = [
    ...[...documents, ...pagesForOperators(options)].map(
      ([path, { kind, handler }]) => [path, open(kind, handler)] as const,
    ),
    ...explorerPages(options, { gate, feeds, common, ...handlers }),
  ]
  for (const [path, page] of pages) app.get(path, ({ request }) => page(request))
  return app
}

/** The reference and what goes with it. Examples need no node: what is stored is enough, and pages do not wait for one. */
const documentsOf = ({ store, prices, profiles, clock, ...options }: AppOptions) => {
  const { version, testKey, defaults, basePath, explorer, publicUrl } = options
  return documentHandlers(
    { store, node: undefined, prices, profiles, clock },
    { version, testKey, defaults, basePath, isExplored: explorer === true, publicUrl },
  )
}

type Page = { readonly kind: string; readonly handler: Handler }

/** What is for those who run the service. */
const pagesForOperators = (options: AppOptions): readonly (readonly [path: string, page: Page])[] => {
  const { metrics, maxLagMs } = options
  const status = { kind: 'status', handler: statusHandler({ ...options, maxLagMs }) }
  return [
    ['/status', status],
    ...(metrics === undefined
      ? []
      : [['/metrics', { kind: 'metrics', handler: metricsHandler(metrics) }] as const]),
  ]
}

const answeringOf = (
  { log, defaults, basePath, deadlineMs, clock, stopping, counts = ownHttpCounts(), logEach = 1 }: AppOptions,
  addressOf: Answering['addressOf'],
): Answering => ({
  ...{ log, defaults, basePath, deadlineMs, clock, counts, stopping, addressOf },
  isLogged: sampling(logEach),
})

/** Addresses of queries and of the gateway, as the routes take them. */
const crowdedPaths = (basePath: string): readonly [api: RegExp, rpc: RegExp] => {
  const origin = `^https?://[^/?#]{4,}${RegExp.escape(basePath)}`
  return [new RegExp(`${origin}/api(?:/[^/?#]+/[^/?#]+)?/?(?:[?#]|$)`), new RegExp(`${origin}/rpc/`)]
}

const isFor = ({ method, url }: Request, path: RegExp): boolean => method === 'GET' && path.test(url)

const idleSeconds = (deadlineMs: number): number => {
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

/** The reference in the reader's language. */
const redirectToDocs =
  (basePath: string): Handler =>
  async ({ query, path, request }) => {
    const lang = languageFor(query, request.headers.get('accept-language') ?? undefined)
    // The prefix without a slash at its end is an address beside those behind it.
    const from = path === '' ? `${basePath.slice(basePath.lastIndexOf('/') + 1)}/` : ''
    return redirect(path === '/docs/' ? lang : `${from}docs/${lang}`, { Vary: 'Accept-Language' })
  }

/** A character of a text takes at most two bytes. */
const BYTES_OF_CHARACTER = 2

const apiOptionsOf = (
  options: AppOptions,
  threads: number,
  counts: HttpCounts,
): Omit<ApiOptions, 'feeds'> => {
  const { defaults, stallMs, keptBytes = 0 } = options
  const kept = keptAnswers<WrittenAnswer>({
    maxCharacters: keptBytes / BYTES_OF_CHARACTER / threads,
    onAnswer: source => counts.answers.add(1, source),
  })
  return { defaults, stallMs, kept: keptBytes === 0 ? undefined : kept }
}

/** Bytes of nodes' answers that are kept, in all threads. */
const KEPT_BYTES = 16 * 1024 * 1024

const gatewayOf = ({ node, clock }: AppOptions, threads: number, counts: HttpCounts): Gateway | undefined =>
  node === undefined
    ? undefined
    : createGateway(node, {
        clock,
        maxBytes: KEPT_BYTES / threads,
        onAnswer: source => counts.gatewayAnswers.add(1, source),
        onKept: bytes => counts.gatewayBytes.set(bytes),
      })

const gateOf = ({ keyring, rates, clock, addresses = addressLimits(clock) }: AppOptions) => ({
  ...{ keyring, rates, clock, addresses },
})

/** Bun's own router would lead past `onRequest`. */
const emptyApp = (basePath: string, deadlineMs: number): Elysia<string> =>
  new Elysia({
    prefix: basePath,
    systemRouter: false,
    nativeStaticResponse: false,
    serve: { maxRequestBodySize: MAX_BODY_BYTES, idleTimeout: idleSeconds(deadlineMs) },
  })
