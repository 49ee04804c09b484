import type { AnswerDeps } from '#actions/answer.ts'
import { LANGUAGE_TAG, selectLanguage } from '#actions/request/options.ts'
import { findNear, type Near } from '#explorer/find/search.ts'
import { formatRoot, toHref } from '#explorer/links.ts'
import type { Site } from '#explorer/page.ts'
import { type Document, type PageRequest, showFailure, showPage } from '#explorer/show.tsx'
import { Failure } from '#failure/failure.ts'
import { admitVisitor, type Gate } from '#gate/gate.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import type { Clock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import { codes } from '../codes.ts'
import { PAGE_POLICY, redirect } from '../documents.ts'
import { type Exchange, type Handler, parseTarget } from '../exchange.ts'
import { failureFields, failureReply, type Reply, textReply } from '../reply.ts'

const ZH = /^\/zh(?=\/|$)/

/** Headers that proxies add. With them, only the proxy knows the address that visitors see. */
const PROXIED = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via']

/** Language and page of an address. */
export function parsePageRequest({ path, request }: Exchange, site: Site): Omit<PageRequest, 'now'> {
  const lang = ZH.test(path) ? 'zh' : 'en'
  const own = path.replace(ZH, '') || '/'
  const root = formatRoot(lang, own)
  return {
    site,
    lang,
    path: own,
    root,
    home: formatRoot('en', own),
    origin: site.publicUrl ?? URL.parse(`./${root}`, request.url)?.href ?? '/',
    isOriginKnown: site.publicUrl !== undefined || !PROXIED.some(name => request.headers.has(name)),
    query: new URLSearchParams(parseTarget(request.url).query),
  }
}

/** Lifetime of a cached page: that of a browser's cache (`max-age=1`). */
const KEPT_MS = 1_000
/** Maximum length of all cached pages, in characters: the few that many visitors view. */
const MAX_CACHED = 4 * 1024 * 1024

/**
 * Pages made within the last second, and pages in progress. Many visitors who request the same page at the
 * same moment cost little more than one.
 */
export function createPageCache(clock: Pick<Clock, 'elapsed'>) {
  /** The outcome for visitors who wait for the page; `gone`: the visitor who made it left before. */
  type Made = { readonly page: Document } | 'failed' | 'gone'
  /** The function that makes a page for a visitor, and the signal that aborts when the visitor leaves. */
  type Making = { readonly make: () => Promise<Document>; readonly signal: AbortSignal }
  const cached = boundedCache<{ readonly page: Document; readonly until: number }>(MAX_CACHED)
  const making = new Map<string, Promise<Made>>()
  const keep = (key: string, page: Document): void =>
    cached.put(key, { page, until: clock.elapsed() + KEPT_MS }, key.length + ('text' in page ? page.text.length : 0))
  const made = async (key: string, { make, signal }: Making): Promise<Document> => {
    const { promise, resolve } = Promise.withResolvers<Made>()
    making.set(key, promise)
    let end: Made = 'failed'
    try {
      const page = await make()
      keep(key, page)
      end = { page }
      return page
    } finally {
      if (making.get(key) === promise) making.delete(key)
      resolve(end === 'failed' && signal.aborted ? 'gone' : end)
    }
  }
  return async (
    /** Everything that a page depends on, except the time. */
    { lang, path, query, origin, isOriginKnown }: Omit<PageRequest, 'now'>,
    own: Making,
    /** The minimum height of the page. */
    leastHeight = 0,
  ): Promise<Document> => {
    const key = `${lang} ${isOriginKnown} ${origin} ${path}?${query}`
    const known = cached.get(key)?.value
    if (known !== undefined && clock.elapsed() < known.until && getPageHeight(known.page) >= leastHeight)
      return known.page
    let isLater = false
    for (let other = making.get(key); other !== undefined; other = making.get(key)) {
      const end = await awaitLimited(other, { signal: own.signal })
      // A failure of one visitor's page is not a failure for the others.
      if (end === 'failed') break
      // A page begun after the wait is as new as a page made now, even if its height is below the requested one.
      if (end !== 'gone' && (isLater || getPageHeight(end.page) >= leastHeight)) return end.page
      // The first waiting visitor makes the next page, and the others wait for that.
      isLater = true
    }
    own.signal.throwIfAborted()
    return made(key, own)
  }
}

/** The height of a page. A page without a height is valid for any. */
const getPageHeight = (page: Document): number =>
  'text' in page ? (page.height ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY

/** Pages for people: without a key, within the visits of a network, with permits for visitors. */
export function explorerHandler(deps: AnswerDeps, { site, gate }: { readonly site: Site; readonly gate: Gate }) {
  /** Suggestions for names that were not found. */
  const nearTo = new WeakMap<Failure, Near>()
  const kept = createPageCache(deps.clock)
  const handler: Handler = async (exchange, signal) => {
    // The script of an open page sends the height of the event that caused a refresh.
    const announced = exchange.request.headers.get('x-live-height')
    const least = announced === null ? undefined : Number(/^\d{1,15}$/.exec(announced)?.[0] ?? 0)
    const permits = admitVisitor(exchange, least === undefined ? 'visit' : 'refresh', gate)
    const to = findRedirect(exchange)
    if (to !== undefined) return redirect(to, { Vary: 'Accept-Language' })
    const request = parsePageRequest(exchange, site)
    const running = { signal, acquire: permits.store(signal) }
    const make = async (): Promise<Document> => {
      try {
        return await showPage(deps, { ...request, now: deps.clock.now() }, running)
      } catch (error) {
        // The thing in the address does not exist.
        if (error instanceof Failure && (error.kind === 'not_found' || error.kind === 'loading')) {
          const near = await findNear(deps, request, running).catch(() => undefined)
          if (near !== undefined) nearTo.set(error, near)
        }
        throw error
      }
    }
    // No page can be of a later height yet: a made-up one would have each page made anew.
    const published = least === undefined ? undefined : await deps.store.published()
    const isReached = least !== undefined && published !== undefined && least <= published.height
    const shown = await kept(request, { make, signal }, isReached ? least : undefined)
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
