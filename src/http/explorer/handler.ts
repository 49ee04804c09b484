import type { AnswerDeps } from '#actions/answer.ts'
import { languageFor } from '#actions/request/options.ts'
import { hrefTo, rootFrom } from '#explorer/links.ts'
import type { Site } from '#explorer/page.ts'
import { type Asked, showFailure, showPage } from '#explorer/show.tsx'
import { Failure } from '#failure/failure.ts'
import type { AddressLimits } from '#keys/address-limits.ts'
import { codes } from '../codes.ts'
import { redirect } from '../documents.ts'
import { failureFields, failureReply } from '../envelope.ts'
import type { Begin, Exchange } from '../exchange.ts'
import { type Reply, textReply } from '../reply.ts'
import { type Queues, type Turns, turnsOf } from '../turns.ts'

/** Nothing from elsewhere, and no style or script but our own files. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** What limits visits. */
export type ExplorerGate = {
  readonly queues: Queues
  readonly addresses: Pick<AddressLimits, 'visit'>
  /** The network of a visitor; undefined: it is unknown, and not limited. */
  readonly networkOf: (request: Request) => string | undefined
}

/** Pages for people: without a key, within what a network may open in a minute, in turns with all others. */
export const explorerHandler = (deps: AnswerDeps, options: ExplorerGate & { readonly site: Site }) => {
  const { site, queues, addresses, networkOf } = options
  const begin: Begin = async exchange => {
    const network = networkOf(exchange.request)
    const wait = network === undefined ? 0 : addresses.visit(network)
    if (wait > 0) throw tooMany(wait)
    const key = network ?? 'visitor'
    queues.store.check(key)
    return async (admitted, signal) => {
      const to = elsewhere(admitted)
      if (to !== undefined) return redirect(to, { Vary: 'Accept-Language' })
      const asked = askedBy(admitted, site)
      const turns = turnsOf(queues, { key, plan: NO_PLAN }, signal)
      const shown = await showPage(deps, { ...asked, now: deps.clock.now() }, { signal, turn: turns.store })
      return 'to' in shown ? redirect(hrefTo(asked, shown.to)) : pageReply(200, shown.html, asked)
    }
  }
  const failed = async (exchange: Exchange, failure: Failure): Promise<Reply> => {
    const asked = askedBy(exchange, site)
    const { headers } = failureReply(failure, exchange.manner, exchange.id)
    const { message } = failureFields(failure, { lang: asked.lang, secrets: [] })
    const told = new Failure(failure.kind, message)
    const reply = pageReply(codes[failure.kind].status, await showFailure(asked, told), asked)
    return { ...reply, headers: { ...reply.headers, ...headers } }
  }
  return { begin, failed }
}

/** Visits are no exports. */
const NO_PLAN: Turns['plan'] = { more: async () => undefined, require: () => undefined }

const ZH = /^\/zh(?=\/|$)/

/** Language and page of an address. */
const askedBy = ({ path, request }: Exchange, site: Site): Omit<Asked, 'now'> => {
  const lang = ZH.test(path) ? 'zh' : 'en'
  const own = path.replace(ZH, '') || '/'
  return { site, lang, path: own, root: rootFrom(lang, own), query: new URL(request.url).searchParams }
}

/** Where an address leads that is none of a page: those without a slash at their end, and home in the browser's language. */
const elsewhere = ({ path, query, request }: Exchange): string | undefined => {
  const url = new URL(request.url)
  if (path === '' || path === '/zh')
    return `${url.pathname.slice(url.pathname.lastIndexOf('/') + 1)}/${url.search}`
  const lang = languageFor(query, request.headers.get('accept-language') ?? undefined)
  return path === '/' && lang === 'zh' ? `zh/${url.search}` : undefined
}

const pageReply = (status: number, text: string, { lang }: Pick<Asked, 'lang'>): Reply =>
  textReply(
    status,
    { type: 'text/html; charset=utf-8', text },
    {
      headers: {
        'Cache-Control': 'private, max-age=1',
        Vary: 'Accept-Language',
        'Content-Security-Policy': POLICY,
        'Content-Language': lang === 'zh' ? 'zh-CN' : 'en',
      },
      form: status === 200 ? 'tagged' : 'raw',
    },
  )

const tooMany = (ms: number): Failure =>
  new Failure('rate_limited', 'Too many pages were opened from this network address within a minute.', {
    zh: '此网络地址在一分钟内打开的页面过多。',
    details: { retryAfter: Math.max(1, Math.ceil(ms / 1_000)) },
  })
