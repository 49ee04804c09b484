import { readFileSync } from 'node:fs'
import type { AnswerDeps } from '#actions/answer.ts'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { chooseExample, type Example, findScenes } from '#actions/example/choose.ts'
import { actions } from '#actions/registry.ts'
import { FEED_FORMAT, LANGUAGE_TAG, type OptionDefaults, readOptions } from '#actions/request/options.ts'
import { findSingleValue, type Query } from '#actions/request/query.ts'
import { badRequest, quoteGiven } from '#actions/request/refusals.ts'
import touchIcon from '#explorer/asset/touch-icon.png' with { type: 'file' }
import type { Lang, Site } from '#explorer/page.ts'
import { Failure } from '#failure/failure.ts'
import { countVisit } from '#gate/gate.ts'
import type { AddressLimits } from '#gate/networks.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { Assets } from './assets.ts'
import { clientScript, clientText } from './client/client-text.ts'
import type { Handler } from './exchange.ts'
import { FORM_NAMES, type Form, formatRoute } from './openapi/action-operation.ts'
import { buildOpenapi } from './openapi/document.ts'
import { listFieldRows } from './reference/action.ts'
import { renderReference } from './reference/page.tsx'
import { paragraphs } from './reference/text.ts'
import { JSON_TYPE, keepFirstResult, lastingReply, type Reply, textReply } from './reply.ts'

/** The logo of the pages: a lens over a chain of blocks. */
const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1b4fd6"/><circle cx="14" cy="14" r="7" fill="none" stroke="#fff" stroke-width="3"/><path d="m19 19 7 7" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>
`

/** Crawlers may read the reference and the explorer. Calls need a key, and searches and streams have no end. */
function formatRobots({
  basePath,
  isExplored,
  publicUrl,
}: {
  readonly basePath: string
  readonly isExplored: boolean
  readonly publicUrl?: string | undefined
}): string {
  const searches = ['/search', '/suggest'].flatMap(path => [path, `/zh${path}`])
  const closed = ['/api/', '/rpc/', ...(isExplored ? [...searches, '/live'] : [])]
  // A sitemap needs an absolute URL.
  const map = isExplored && publicUrl !== undefined ? ['', `Sitemap: ${publicUrl}sitemap.xml`] : []
  return ['User-agent: *', ...closed.map(path => `Disallow: ${basePath}${path}`), ...map, ''].join('\n')
}

/** The llms.txt: a description of the service for language models, with examples and links. Addresses are relative. */
function formatLlms(actions: readonly ApiAction[]): string {
  const english = (name: 'intro' | 'requests' | 'answers' | 'numbers' | 'lists' | 'errors'): string =>
    paragraphs[name].map(({ en }) => en).join('\n')
  const entry = (action: ApiAction): string =>
    `- [${action.module} ${action.action}](docs/en#${formatActionName(action)}): GET ${formatRoute(action)}. ${action.title.en}. ${action.summary.en}`
  return `# iostlens

> ${english('intro').replaceAll('\n', '\n> ')}

Every call needs an API key in the header X-API-Key.

${english('requests')}

${english('answers')}

${english('numbers')}

${english('lists')}

${english('errors')}

## Documents

- [OpenAPI document](openapi.json): parameters and answers of every action
- [Reference](docs/en): every field, with forms, examples and guides
- [Reference in Chinese](docs/zh)

## Actions

${actions.map(entry).join('\n')}
`
}

const HEADERS = { 'Cache-Control': 'public, max-age=300' }

/**
 * The Content-Security-Policy of all pages. Only styles and scripts of the service itself are loaded, so that
 * injected content would not run.
 */
export const PAGE_POLICY = [
  ...["default-src 'none'", "style-src 'self'", "script-src 'self'", "connect-src 'self'", "img-src 'self'"],
  ...["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
].join('; ')

/** A document, under the name of its kind in the log. */
type Document = { readonly kind: 'docs' | 'openapi' | 'client'; readonly handler: Handler }

type DocumentOptions = {
  readonly addresses: Pick<AddressLimits, 'visit' | 'refresh'>
  readonly site: Site
  readonly files: Assets['reference']
  readonly defaults: OptionDefaults
  readonly basePath: string
}

/**
 * The documents by their paths: the reference in both languages, the OpenAPI document, the client, and the files for
 * robots. Each is made on first use.
 */
export function documentHandlers(deps: AnswerDeps, options: DocumentOptions): ReadonlyMap<string, Document> {
  const { addresses, site, defaults, basePath } = options
  const ofExamples = repliesOfExamples(servedExamples(deps, defaults))
  const docs = (handler: Handler): Document => ({ kind: 'docs', handler })
  const client = (type: string, make: typeof clientText): Document => ({
    kind: 'client',
    handler: serveFixed(type, () => make(actions, site.version)),
  })
  const icon = docs(serveFixed('image/svg+xml', () => favicon))
  const all: readonly (readonly [path: string, document: Document])[] = [
    ['/docs/en', docs(pageHandler('en', options, ofExamples))],
    ['/docs/zh', docs(pageHandler('zh', options, ofExamples))],
    ['/openapi.json', { kind: 'openapi', handler: openapiHandler(options, ofExamples) }],
    ['/client.ts', client('application/typescript; charset=utf-8', clientText)],
    ['/client.js', client('text/javascript; charset=utf-8', clientScript)],
    ['/llms.txt', docs(serveFixed('text/markdown; charset=utf-8', () => formatLlms(actions)))],
    ['/robots.txt', docs(serveFixed('text/plain; charset=utf-8', () => formatRobots({ ...site, basePath })))],
    ['/favicon.svg', icon],
    ['/favicon.ico', icon],
    ['/apple-touch-icon.png', docs(touchIconHandler())],
  ]
  // A document counts as a visit of its network.
  const asVisit =
    (handler: Handler): Handler =>
    async (exchange, ...running) => {
      countVisit(addresses, exchange, 'visit')
      return handler(exchange, ...running)
    }
  return new Map(all.map(([path, { kind, handler }]) => [path, { kind, handler: asVisit(handler) }]))
}

/** Calls that have an answer on the served chain, by action. */
type Examples = ReadonlyMap<ApiAction, Example>

/** Milliseconds after which a chain that lacked an example is searched again. */
const AGAIN_MS = 60_000
/** Time limit of the search, so that pages do not wait for a store that hangs. */
const TIMEOUT_MS = 5_000

/**
 * Calls that have an answer on the served chain, chosen at the first request and kept while the process runs:
 * data of the chain never disappears. A missing call is searched again after a minute. Never throws: a store
 * that cannot be read leaves the pages without examples.
 */
function servedExamples(deps: AnswerDeps, defaults: OptionDefaults): () => Promise<Examples> {
  let known: Examples = new Map()
  let askedAt = Number.NEGATIVE_INFINITY
  let underWay: Promise<void> | undefined
  const find = async (): Promise<void> => {
    const controller = new AbortController()
    const stop = deps.clock.after(TIMEOUT_MS, () => controller.abort())
    try {
      const { signal } = controller
      const found = await awaitLimited(chooseMissing(deps, { known, defaults }, signal), { signal })
      // The same object while nothing was found, since pages are made anew for another one.
      if (found.size > known.size) known = found
    } catch {
      // A caller of the action gets the failure itself.
    } finally {
      stop()
      askedAt = deps.clock.elapsed()
      underWay = undefined
    }
  }
  return async () => {
    const isDue = known.size < actions.length && deps.clock.elapsed() - askedAt >= AGAIN_MS
    if (isDue) underWay ??= find()
    await underWay
    return known
  }
}

/** The known examples, and those that are found for the other actions. */
async function chooseMissing(
  deps: AnswerDeps,
  { known, defaults }: { readonly known: Examples; readonly defaults: OptionDefaults },
  signal: AbortSignal,
): Promise<Examples> {
  const scenes = await deps.store.read(findScenes, { signal })
  const found = new Map(known)
  for (const action of actions) {
    if (found.has(action)) continue
    const numbers = listFieldRows(action.result).some(({ exact }) => exact) ? 'string' : 'number'
    const options = { ...defaults, numbers, lang: 'en' } as const
    const example = await chooseExample(deps, { action, scenes }, { options, signal }).catch((error: unknown) => {
      // An action that cannot answer now has no example. Other actions are not affected.
      if (!(error instanceof Failure)) throw error
    })
    if (example !== undefined) found.set(action, example)
  }
  return found
}

/** Gives the reply with a name, made by `make` once for each set of examples: requests at the same time wait for the same one. */
type RepliesOfExamples = (name: string, make: (examples: Examples) => Promise<Reply>) => Promise<Reply>

function repliesOfExamples(served: () => Promise<Examples>): RepliesOfExamples {
  let made: { readonly examples: Examples; readonly replies: Map<string, Promise<Reply>> } | undefined
  return async (name, make) => {
    const examples = await served()
    if (made?.examples !== examples) made = { examples, replies: new Map() }
    const { replies } = made
    const known = replies.get(name)
    if (known !== undefined) return known
    const reply = make(examples)
    replies.set(name, reply)
    // A failure is told to those that wait for the reply, and not kept.
    reply.catch(() => replies.delete(name))
    return reply
  }
}

function pageHandler(lang: Lang, options: DocumentOptions, ofExamples: RepliesOfExamples): Handler {
  const headers = {
    // The page names its style and script by their content hashes, so it must be that of the running service.
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': PAGE_POLICY,
    'Content-Language': LANGUAGE_TAG[lang],
  }
  return async ({ path }) => {
    // The page's links are relative to its address without a trailing slash.
    if (path.endsWith('/')) return redirect(`../${lang}`)
    return ofExamples(path, async examples => {
      const text = await renderReference(actions, { ...options, lang, examples })
      return lastingReply({ type: 'text/html; charset=utf-8', text }, headers)
    })
  }
}

/** The page's logo as PNG, since phones do not use an SVG on the home screen. Phones round the corners. */
function touchIconHandler(): Handler {
  const icon = keepFirstResult(() => readFileSync(touchIcon))
  return async () => ({ status: 200, type: 'image/png', body: icon(), headers: HEADERS, form: 'raw' })
}

function serveFixed(type: string, make: () => string): Handler {
  const reply = keepFirstResult(() => lastingReply({ type, text: make() }, HEADERS))
  return async () => reply()
}

/** Redirects to a location relative to the request's address, since the service may be behind any path prefix. */
export const redirect = (location: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  textReply(
    302,
    { type: 'text/plain; charset=utf-8', text: '' },
    { headers: { Location: location, 'Cache-Control': 'no-cache', ...headers } },
  )

function openapiHandler({ site: { version }, defaults }: DocumentOptions, ofExamples: RepliesOfExamples): Handler {
  const form: Form = { ...defaults, numbers: 'number' }
  return async ({ path, query, fault }) => {
    if (fault !== undefined) throw fault
    // The document's server URL is relative to the document's address without a trailing slash.
    if (path.endsWith('/')) return redirect(`../openapi.json${formatQueryString(query)}`)
    const chosen = parseFormOptions(query, defaults)
    return ofExamples(`${path} ${JSON.stringify(chosen)}`, async examples => {
      const text = JSON.stringify(buildOpenapi(actions, { version, defaults: form, chosen, examples }))
      return lastingReply({ type: JSON_TYPE, text }, HEADERS)
    })
  }
}

/** The form options of the request. Throws 'bad_request' on any other name or value. */
function parseFormOptions(query: Query, defaults: OptionDefaults): Partial<Form> {
  for (const [name] of query)
    if (!(FORM_NAMES as readonly string[]).includes(name) && name !== 'lang')
      throw badRequest({
        en: `Unknown parameter ${quoteGiven(name)}; the document takes ${FORM_NAMES.join(', ')}.`,
        zh: `未知参数 ${quoteGiven(name)}；此文档的参数为 ${FORM_NAMES.join('、')}。`,
      })
  const options = readOptions(query, { defaults })
  const given = FORM_NAMES.filter(name => findSingleValue(query, name) !== undefined)
  const chosen: Partial<Form> = Object.fromEntries(given.map(name => [name, options[name]]))
  const { format: _, ...others } = chosen
  const exported = options.isFeed === true ? FEED_FORMAT : options.export
  return exported === undefined ? chosen : { ...others, export: exported }
}

/** A query as a string, encoded anew, with a leading question mark; "" for an empty one. */
export const formatQueryString = (query: Query): string =>
  query.length === 0 ? '' : `?${new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]))}`
