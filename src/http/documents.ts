import { readFileSync } from 'node:fs'
import type { AnswerDeps } from '#actions/answer.ts'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { FEED_FORMAT, LANGUAGE_TAG, type OptionDefaults, readOptions } from '#actions/request/options.ts'
import { findSingleValue, type Query } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import touchIcon from '#explorer/asset/touch-icon.png' with { type: 'file' }
import type { Site } from '#explorer/page.ts'
import type { Assets } from './assets.ts'
import { clientScript, clientText } from './client/client-text.ts'
import type { Handler } from './exchange.ts'
import { counted, type ExplorerGate } from './explorer/gate.ts'
import { formatRoute } from './openapi/action-operation.ts'
import { buildOpenapi } from './openapi/document.ts'
import { FORM_NAMES, type Form } from './openapi/responses.ts'
import type { ReferenceLang } from './reference/action.ts'
import { type Examples, servedExamples } from './reference/examples.ts'
import { renderReference } from './reference/page.tsx'
import { paragraphs } from './reference/text.ts'
import { JSON_TYPE, lastingReply, lazy, type Reply, textReply } from './reply.ts'

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

/** The documents by their paths. */
type Documents = ReadonlyMap<string, Document>

/**
 * The reference in both languages, the OpenAPI document, the client, and the files for robots. Each is made
 * on first use.
 */
export function documentHandlers(
  deps: AnswerDeps,
  options: {
    readonly addresses: ExplorerGate['addresses']
    readonly site: Site
    readonly files: Assets['reference']
    readonly defaults: OptionDefaults
    readonly basePath: string
  },
): Documents {
  const examples = servedExamples(deps, actions, options.defaults)
  const docs = (handler: Handler): Document => ({ kind: 'docs', handler })
  const client = (type: string, make: typeof clientText): Document => ({
    kind: 'client',
    handler: fixed(type, () => make(actions, options.site.version)),
  })
  const icon = docs(fixed('image/svg+xml', () => favicon))
  const all: readonly (readonly [path: string, document: Document])[] = [
    ['/docs/en', docs(pageHandler('en', options, examples))],
    ['/docs/zh', docs(pageHandler('zh', options, examples))],
    ['/openapi.json', { kind: 'openapi', handler: openapiHandler(options, examples) }],
    ['/client.ts', client('application/typescript; charset=utf-8', clientText)],
    ['/client.js', client('text/javascript; charset=utf-8', clientScript)],
    ['/llms.txt', docs(fixed('text/markdown; charset=utf-8', () => formatLlms(actions)))],
    [
      '/robots.txt',
      docs(fixed('text/plain; charset=utf-8', () => formatRobots({ ...options.site, basePath: options.basePath }))),
    ],
    ['/favicon.svg', icon],
    ['/favicon.ico', icon],
    ['/apple-touch-icon.png', docs(touchIconHandler())],
  ]
  return new Map(all.map(([path, { kind, handler }]) => [path, { kind, handler: asVisit(options, handler) }]))
}

/** A document that counts as a visit of its network. */
const asVisit =
  (gate: Pick<ExplorerGate, 'addresses'>, handler: Handler): Handler =>
  async (exchange, ...running) => {
    counted(gate, exchange, 'visit')
    return handler(exchange, ...running)
  }

function pageHandler(
  lang: ReferenceLang,
  options: Parameters<typeof documentHandlers>[1],
  served: () => Promise<Examples>,
): Handler {
  const headers = {
    // The page names its style and script by their content hashes, so it must be that of the running service.
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': PAGE_POLICY,
    'Content-Language': LANGUAGE_TAG[lang],
  }
  const make = madeOnce(async (examples: Examples) =>
    lastingReply(
      { type: 'text/html; charset=utf-8', text: await renderReference(actions, { ...options, lang, examples }) },
      headers,
    ),
  )
  return async ({ path }) => {
    // The page's links are relative to its address without a trailing slash.
    if (path.endsWith('/')) return redirect(`../${lang}`)
    return make(await served())
  }
}

/** Makes a reply once for each set of examples: requests at the same time wait for the same one. */
function madeOnce(make: (examples: Examples) => Promise<Reply>) {
  let made: { readonly examples: Examples; readonly reply: Promise<Reply> } | undefined
  return (examples: Examples): Promise<Reply> => {
    if (made?.examples === examples) return made.reply
    const reply = make(examples)
    made = { examples, reply }
    reply.catch(() => {
      if (made?.reply === reply) made = undefined
    })
    return reply
  }
}

/** The page's logo as PNG, since phones do not use an SVG on the home screen. Phones round the corners. */
function touchIconHandler(): Handler {
  const icon = lazy(() => readFileSync(touchIcon))
  return async () => ({ status: 200, type: 'image/png', body: icon(), headers: HEADERS, form: 'raw' })
}

function fixed(type: string, make: () => string): Handler {
  const reply = lazy(() => lastingReply({ type, text: make() }, HEADERS))
  return async () => reply()
}

/** Redirects to a location relative to the request's address, since the service may be behind any path prefix. */
export const redirect = (location: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  textReply(
    302,
    { type: 'text/plain; charset=utf-8', text: '' },
    { headers: { Location: location, 'Cache-Control': 'no-cache', ...headers } },
  )

function openapiHandler(
  { site: { version }, defaults }: { readonly site: Site; readonly defaults: OptionDefaults },
  served: () => Promise<Examples>,
): Handler {
  const form: Form = { ...defaults, numbers: 'number' }
  const written = new Map<string, ReturnType<typeof madeOnce>>()
  return async ({ path, query, fault }) => {
    if (fault !== undefined) throw fault
    // The document's server URL is relative to the document's address without a trailing slash.
    if (path.endsWith('/')) return redirect(`../openapi.json${formatQueryString(query)}`)
    const chosen = parseFormOptions(query, defaults)
    const choice = JSON.stringify(chosen)
    const make =
      written.get(choice) ??
      madeOnce(async examples => {
        const text = JSON.stringify(buildOpenapi(actions, { version, defaults: form, chosen, examples }))
        return lastingReply({ type: JSON_TYPE, text }, HEADERS)
      })
    written.set(choice, make)
    return make(await served())
  }
}

/** The form options of the request. Throws 'bad_request' on any other name or value. */
function parseFormOptions(query: Query, defaults: OptionDefaults): Partial<Form> {
  for (const [name] of query)
    if (!(FORM_NAMES as readonly string[]).includes(name) && name !== 'lang')
      throw badRequest({
        en: `Unknown parameter ${shown(name)}; the document takes ${FORM_NAMES.join(', ')}.`,
        zh: `未知参数 ${shown(name)}；此文档的参数为 ${FORM_NAMES.join('、')}。`,
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
