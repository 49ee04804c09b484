import type { AnswerDeps } from '#actions/answer.ts'
import { downloads } from '#explorer/download/downloads.ts'
import type { Labels } from '#explorer/page.ts'
import { pages } from '#explorer/pages.ts'
import type { Service } from '../exchange.ts'
import type { OpenFeeds } from '../feed/open-feeds.ts'
import { respond } from '../request.ts'
import { explorerAssets } from './assets.ts'
import { downloadHandler } from './download.ts'
import type { ExplorerGate } from './gate.ts'
import { explorerHandler } from './handler.ts'
import { liveHandler } from './live.ts'

/** Paths of the explorer as routes, in both languages. */
const routesOf = (all: readonly { readonly path: string }[]): readonly string[] =>
  all.flatMap(({ path }) => {
    const route = path.replace('{id}', ':id').replace('{part}', ':part')
    return path === '/' ? ['/', '/zh', '/zh/'] : [route, `/zh${route}`]
  })

type Answerer = (request: Request) => Promise<Response>

type PagesOptions = AnswerDeps & {
  readonly stallMs: number
  readonly maxLagMs?: number | undefined
  readonly version: string
  readonly testKey?: string
  readonly publicUrl?: string | undefined
  readonly labels?: Labels | undefined
  /** Whether there are pages for people. */
  readonly explorer?: boolean
}

/**
 * Pages for people and their files, and what is at all other paths. Where there are no pages, `start` is at the root and
 * `unknown` elsewhere.
 */
export const explorerPages = (
  options: PagesOptions,
  {
    gate,
    feeds,
    service,
    start,
    unknown,
  }: {
    readonly gate: ExplorerGate
    readonly feeds: OpenFeeds
    readonly service: Service
    readonly start: Answerer
    readonly unknown: Answerer
  },
): readonly (readonly [path: string, answer: Answerer])[] => {
  const { version, testKey, publicUrl, labels = new Map(), clock, stallMs, node, maxLagMs } = options
  if (options.explorer !== true)
    return [
      ['/', start],
      ['/*', unknown],
    ]
  const { names, all } = explorerAssets()
  const site = { version, testKey, publicUrl, labels, assets: names }
  const { handler, failed } = explorerHandler(options, { site, ...gate })
  const paged = { ...service, writeFailure: failed }
  const page = respond('explorer', handler, paged)
  const download = downloadHandler(options, { site, stallMs, ...gate })
  const file = respond('download', download, paged)
  return [
    ...routesOf(pages).map(path => [path, page] as const),
    ...routesOf(downloads).map(path => [path, file] as const),
    ['/live', respond('live', liveHandler(gate, { feeds, node, maxLagMs, clock, stallMs }), service)],
    ...all.map(({ name, handler }) => [`/assets/${name}`, respond('explorer', handler, service)] as const),
    ['/*', request => (isBrowsed(request) ? page(request) : unknown(request))],
  ]
}

/** Browsers say that they take HTML, programs say nothing or something else. */
const isBrowsed = ({ headers }: Request): boolean => headers.get('accept')?.includes('text/html') === true
