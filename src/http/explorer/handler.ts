import type { AnswerDeps } from '#actions/answer.ts'
import { LANGUAGE_TAG, selectLanguage } from '#actions/request/options.ts'
import { findNear, type Near } from '#explorer/find/near.ts'
import { toHref } from '#explorer/links.ts'
import type { Site } from '#explorer/page.ts'
import { type PageRequest, showFailure, showPage } from '#explorer/show.tsx'
import { Failure } from '#failure/failure.ts'
import { type CallerPermits, createPermits, MAX_ROWS_WITHOUT_KEY } from '#gate/gate.ts'
import { codes } from '../codes.ts'
import { PAGE_POLICY, redirect } from '../documents.ts'
import type { Exchange, Handler } from '../exchange.ts'
import { failureFields, failureReply } from '../failure-reply.ts'
import { type Reply, textReply } from '../reply.ts'
import { parseTarget } from '../request-text.ts'
import { counted, type ExplorerGate } from './gate.ts'
import { createPageCache } from './page-cache.ts'
import { parsePageRequest } from './page-request.ts'

/** Pages for people: without a key, within the visits of a network, in turns with other visitors. */
export function explorerHandler(deps: AnswerDeps, options: ExplorerGate & { readonly site: Site }) {
  const { site, queues } = options
  /** Suggestions for names that were not found. */
  const nearTo = new WeakMap<Failure, Near>()
  /** Finds suggestions for a name that was not found, and rethrows the failure. */
  const suggest = async (
    error: unknown,
    { request, running }: { readonly request: Omit<PageRequest, 'now'>; readonly running: Running },
  ): Promise<never> => {
    if (isAbsent(error)) {
      const near = await findNear(deps, request, running).catch(() => undefined)
      if (near !== undefined) nearTo.set(error, near)
    }
    throw error
  }
  const kept = createPageCache(deps.clock)
  const handler: Handler = async (exchange, signal) => {
    const least = liveHeight(exchange.request)
    const key = counted(options, exchange, least === undefined ? 'visit' : 'refresh')
    queues.visitors.check(key)
    const to = findRedirect(exchange)
    if (to !== undefined) return redirect(to, { Vary: 'Accept-Language' })
    const request = parsePageRequest(exchange, site)
    const running = { signal, acquire: requestVisitorPermit(options, key, signal) }
    const make = () =>
      showPage(deps, { ...request, now: deps.clock.now() }, running).catch(error =>
        suggest(error, { request, running }),
      )
    const shown = await kept(request, { make, signal }, await findAnnouncedHeight(deps.store, least))
    return 'to' in shown ? redirect(toHref(request, shown.to)) : pageReply(200, shown, request)
  }
  const failed = async (exchange: Exchange, failure: Failure): Promise<Reply> => {
    const request = parsePageRequest(exchange, site)
    const { headers } = failureReply(failure, exchange.replyOptions, exchange.id)
    const { message } = failureFields(failure, { lang: request.lang, secrets: [] })
    const shownFailure = new Failure(failure.kind, message, { details: failure.details })
    const text = await showFailure(request, shownFailure, nearTo.get(failure))
    const reply = pageReply(codes[failure.kind].status, { text }, request)
    return { ...reply, headers: { ...headers, ...reply.headers, 'Cache-Control': 'no-store' } }
  }
  return { handler, failed }
}

/** The header with which the script of an open page sends the height of the event that caused the refresh. */
const LIVE_HEIGHT = 'x-live-height'

/** The height of a refresh; undefined: a visitor opens the page. */
function liveHeight({ headers }: Request): number | undefined {
  const text = headers.get(LIVE_HEIGHT)
  return text === null ? undefined : Number(/^\d{1,15}$/.exec(text)?.[0] ?? 0)
}

/** The height of a refresh, unless no page can be of it yet: a made-up height would have each page made anew. */
async function findAnnouncedHeight(store: AnswerDeps['store'], least: number | undefined): Promise<number | undefined> {
  if (least === undefined) return undefined
  const published = await store.published()
  return published !== undefined && least <= published.height ? least : undefined
}

type Running = Parameters<typeof findNear>[2]

/** Whether a failure means that the thing in the address does not exist. */
const isAbsent = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'not_found' || error.kind === 'loading')

/** The turn of a visitor in the queue of the store. */
const requestVisitorPermit = (
  { queues }: Pick<ExplorerGate, 'queues'>,
  key: string,
  signal: AbortSignal,
): ReturnType<ReturnType<typeof createPermits>['store']> =>
  createPermits(queues, { key, plan: NO_PLAN, isVisitor: true }).store(signal)

/** Visits are not exports, so they have no plan. */
const NO_PLAN: CallerPermits['plan'] = {
  more: async () => undefined,
  require: () => undefined,
  mostRows: MAX_ROWS_WITHOUT_KEY,
}

/**
 * The redirect target of an address, if any. Home has a trailing slash and other pages have none. The home
 * page also redirects to the browser's preferred language.
 */
function findRedirect({ path, query, request }: Exchange): string | undefined {
  const target = parseTarget(request.url)
  const search = target.query === '' ? '' : `?${target.query}`
  const segments = target.path.split('/')
  if (path === '' || path === '/zh') return `${segments.at(-1)}/${search}`
  if (path.endsWith('/') && path !== '/' && path !== '/zh/') return `../${segments.at(-2)}${search}`
  const lang = selectLanguage(query, request.headers.get('accept-language') ?? undefined)
  return path === '/' && lang === 'zh' ? `zh/${search}` : undefined
}

const pageReply = (
  status: number,
  { text, type = 'text/html; charset=utf-8' }: { readonly text: string; readonly type?: string },
  { lang }: Pick<PageRequest, 'lang'>,
): Reply =>
  textReply(
    status,
    { type, text },
    {
      headers: {
        'Cache-Control': 'private, max-age=1',
        Vary: 'Accept-Language',
        'Content-Security-Policy': PAGE_POLICY,
        'Content-Language': LANGUAGE_TAG[lang],
      },
      form: status === 200 ? 'tagged' : 'raw',
    },
  )
