import { Elysia } from 'elysia'
import type { Prices, Profiles } from '#actions/define.ts'
import { languageFor, type OptionDefaults } from '#actions/request/options.ts'
import { Failure } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import type { Keyring } from '#keys/keyring.ts'
import type { Rates } from '#keys/rate.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { type AdmittedHandler, admitting, crowdedOut } from './admit.ts'
import { apiHandler } from './api.ts'
import { documentHandler } from './documents.ts'
import { answering, type Handler, refusing } from './exchange.ts'
import { beforeRouting } from './methods.ts'
import { textReply } from './reply.ts'
import { rpcHandler } from './rpc.ts'
import { healthHandler, readyHandler } from './status.ts'
import { queuesFor } from './turns.ts'

export type AppOptions = {
  readonly store: Store
  /** undefined: the service follows no node; `/rpc/` answers 503. */
  readonly node: Node | undefined
  readonly keyring: Keyring
  readonly rates: Rates
  readonly prices: Prices
  readonly profiles: Profiles
  /** The defaults for options that a request does not give. */
  readonly defaults: OptionDefaults
  /** A request that takes longer is answered 504. */
  readonly deadlineMs: number
  /** Requests that ask the store at once; more wait for their turn, for a while. */
  readonly maxInFlight: number
  readonly clock: Clock
  readonly log: Log
  readonly version: string
  /** The shared test key, when there is one: the reference links calls with it. */
  readonly testKey?: string
}

/** No body is ever read, so none is too long: Bun itself would answer 413, without a body of its own. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER
/** A connection on which nothing moves is closed: after a request's deadline, but no later than Bun allows. */
const IDLE_SECONDS = { least: 30, most: 255, afterDeadline: 5 } as const

/**
 * The whole service as one Elysia app: `app.handle(request)` in tests, `app.listen` for real. Every path answers; none
 * throws.
 */
export const createApp = (options: AppOptions): Elysia => {
  const { store, node, keyring, prices, profiles, defaults, deadlineMs, maxInFlight, clock, log, version } =
    options
  const common = { log, defaults, deadlineMs, clock }
  const queues = queuesFor({ maxInFlight, deadlineMs, clock })
  const gate = { keyring, rates: options.rates, queues, clock }
  const open = (route: string, handler: Handler) => answering(route, handler, common)
  const keyed = (route: string, asks: 'store' | 'node', handler: AdmittedHandler) =>
    answering(route, { begin: admitting(handler, asks, gate) }, common)
  const api = keyed('api', 'store', apiHandler({ store, node, prices, profiles, clock }, defaults))
  const rpc = keyed('rpc', 'node', rpcHandler(node))
  const documents = documentHandler({ version, testKey: options.testKey })
  const handlers = {
    health: open('health', healthHandler(version)),
    ready: open('ready', readyHandler({ store, node, version, clock })),
    start: open('start', redirectToDocs),
    docsEn: open('docs', documents.en),
    docsZh: open('docs', documents.zh),
    openapi: open('openapi', documents.openapi),
    unknown: open('unknown', notFound),
  }
  const refusals = {
    api: refusing('api', crowdedOut('store', gate), common),
    rpc: refusing('rpc', crowdedOut('node', gate), common),
  }
  /** A request for which there is no room is refused before the routes are looked at. */
  const refuseCrowd = (request: Request): Response | undefined => {
    if (queues.store.isCrowded() && isFor(request, API_PATH)) return refusals.api(request)
    if (queues.node.isCrowded() && isFor(request, RPC_PATH)) return refusals.rpc(request)
    return undefined
  }
  // Bun's own router would lead past `onRequest`.
  const app: Elysia = new Elysia({
    systemRouter: false,
    nativeStaticResponse: false,
    serve: { maxRequestBodySize: MAX_BODY_BYTES, idleTimeout: idleSeconds(deadlineMs) },
  })
  app
    .onRequest(
      ({ request }) =>
        refuseCrowd(request) ??
        beforeRouting(request, { answering: common, get: inner => app.handle(inner) }),
    )
    .get('/api', ({ request }) => api(request))
    .get('/rpc/*', ({ request }) => rpc(request))
    .get('/health', ({ request }) => handlers.health(request))
    .get('/ready', ({ request }) => handlers.ready(request))
    .get('/', ({ request }) => handlers.start(request))
    .get('/docs', ({ request }) => handlers.start(request))
    .get('/docs/en', ({ request }) => handlers.docsEn(request))
    .get('/docs/zh', ({ request }) => handlers.docsZh(request))
    .get('/openapi.json', ({ request }) => handlers.openapi(request))
    .get('/*', ({ request }) => handlers.unknown(request))
    .onError(({ request, error, code }) =>
      code === 'NOT_FOUND' ? handlers.unknown(request) : open('error', () => Promise.reject(error))(request),
    )
  return app
}

/** As the routes take them. */
const API_PATH = /^https?:\/\/[^/?#]{4,}\/api\/?(?:[?#]|$)/
const RPC_PATH = /^https?:\/\/[^/?#]{4,}\/rpc\//

const isFor = ({ method, url }: Request, path: RegExp): boolean => method === 'GET' && path.test(url)

const idleSeconds = (deadlineMs: number): number => {
  const { least, most, afterDeadline } = IDLE_SECONDS
  return Math.min(most, Math.max(least, Math.ceil(deadlineMs / 1_000) + afterDeadline))
}

const notFound: Handler = async ({ path }) => {
  const known = '/api/, /rpc/, /docs, /openapi.json, /health, /ready'
  throw new Failure('not_found', `This path does not exist. Available paths: ${known}.`, {
    zh: `此路径不存在。可用路径：${known}。`,
    details: { path },
  })
}

/** The reference in the reader's language. */
const redirectToDocs: Handler = async ({ query, request }) => {
  const lang = languageFor(query, request.headers.get('accept-language') ?? undefined)
  return textReply(
    302,
    { type: 'text/plain; charset=utf-8', text: '' },
    {
      headers: { Location: `/docs/${lang}`, Vary: 'Accept-Language', 'Cache-Control': 'no-cache' },
    },
  )
}
