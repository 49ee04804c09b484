import type { AnswerDeps } from '#actions/answer.ts'
import { downloads } from '#explorer/download/downloads.ts'
import type { Site } from '#explorer/page.ts'
import { pages } from '#explorer/pages.ts'
import type { Service } from '../exchange.ts'
import type { OpenFeeds } from '../feed/open-feeds.ts'
import { respond } from '../request.ts'
import { downloadHandler } from './download.ts'
import type { ExplorerGate } from './gate.ts'
import { explorerHandler } from './handler.ts'
import { liveHandler } from './live.ts'

/** Paths of the explorer as routes, in both languages. */
const listPageRoutes = (all: readonly { readonly path: string }[]): readonly string[] =>
  all.flatMap(({ path }) => {
    const route = path.replace('{id}', ':id').replace('{part}', ':part')
    return path === '/' ? ['/', '/zh', '/zh/'] : [route, `/zh${route}`]
  })

type Answerer = (request: Request) => Promise<Response>

type PagesOptions = AnswerDeps & {
  readonly stallMs: number
  readonly maxLagMs?: number | undefined
  readonly site: Site
}

/**
 * The routes of explorer pages and downloads, and of all other paths. Without pages, `start` is at the root
 * and `unknown` elsewhere.
 */
export function explorerPages(
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
): readonly (readonly [path: string, answer: Answerer])[] {
  const { site, clock, stallMs, node, maxLagMs } = options
  if (!site.isExplored)
    return [
      ['/', start],
      ['/*', unknown],
    ]
  const { handler, failed } = explorerHandler(options, { site, ...gate })
  const paged = { ...service, writeFailure: failed }
  const page = respond('explorer', handler, paged)
  const download = downloadHandler(options, { site, stallMs, ...gate })
  const file = respond('download', download, paged)
  return [
    ...listPageRoutes(pages).map(path => [path, page] as const),
    ...listPageRoutes(downloads).map(path => [path, file] as const),
    [
      '/live',
      respond('live', liveHandler(gate, { feeds, node, maxLagMs, clock, counts: service.counts, stallMs }), service),
    ],
    ['/*', request => (isBrowsed(request) ? page(request) : unknown(request))],
  ]
}

/** Whether a request comes from a browser. Browsers accept HTML; programs send no such header or another value. */
const isBrowsed = ({ headers }: Request): boolean => headers.get('accept')?.includes('text/html') === true
