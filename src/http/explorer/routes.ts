import type { AnswerDeps } from '#actions/answer.ts'
import { askAtOneHeight } from '#actions/ask.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import type { Options } from '#actions/request/options.ts'
import { badRequest } from '#actions/request/refusals.ts'
import { downloads } from '#explorer/download/downloads.ts'
import { type Download, type FileRequest, fileStem, MAX_ROWS } from '#explorer/download/file.ts'
import { findRoute } from '#explorer/links.ts'
import type { Site } from '#explorer/page.ts'
import { pages } from '#explorer/pages.ts'
import { Failure } from '#failure/failure.ts'
import { admitVisitor, countVisit, type Gate } from '#gate/gate.ts'
import { takeStreamPermit } from '#gate/queues.ts'
import type { Published } from '#store/port.ts'
import type { HttpCounts } from '../counts.ts'
import type { Handler, Service } from '../exchange.ts'
import { csvLine, csvSerializer, type ExportForm, exportReply } from '../export/reply.ts'
import { createStream } from '../export/stream.ts'
import type { OpenFeeds } from '../feed/open-feeds.ts'
import { FEED_TYPE, formatEvent } from '../feed/reply.ts'
import { findTroubles, measureFreshness } from '../health.ts'
import { failureFields } from '../reply.ts'
import { respond } from '../request.ts'
import { explorerHandler, parsePageRequest } from './handler.ts'

type Answerer = (request: Request) => Promise<Response>

type PagesOptions = AnswerDeps & {
  readonly stallMs: number
  readonly maxLagMs?: number | undefined
  readonly site: Site
}

/** The service around the pages: what they share with the API, and the answers of its root and of unknown paths. */
type Around = {
  readonly gate: Gate
  readonly feeds: OpenFeeds
  readonly service: Service
  readonly start: Answerer
  readonly unknown: Answerer
}

const encoder = new TextEncoder()

/**
 * `/live`: sends each published height to a page, so that the page refreshes only for new blocks. It also
 * sends the first fault that `/status` reports, in the language of the page, or null. No key is needed. The
 * number of open streams is limited per network and in total.
 */
const liveHandler =
  (
    { node, maxLagMs, clock, stallMs }: PagesOptions,
    { gate, feeds, counts }: Pick<Around, 'gate' | 'feeds'> & { readonly counts: Pick<HttpCounts, 'damageMet'> },
  ): Handler =>
  async (exchange, signal) => {
    const { request, replyOptions } = exchange
    const key = countVisit(gate.addresses, exchange, 'refresh')
    signal.throwIfAborted()
    const permit = takeStreamPermit(gate.queues, 'live', key)
    const outbox = openOutbox<string>()
    const end = (failure: Failure): void => outbox.end(formatEvent('end', failureFields(failure, replyOptions)))
    let remove: () => void = () => undefined
    let known: Published | undefined
    // A store without new blocks becomes stale, so each heartbeat checks it again. Before the first block it is a comment.
    const statusEvent = (): string => {
      if (known === undefined) return ':\n\n'
      const fresh = measureFreshness(known, node, clock)
      const isDamageMet = counts.damageMet.read() > 0
      const [trouble] = findTroubles({ fresh, isDamageMet, failure: undefined, isNodeSilent: false }, maxLagMs)
      return formatEvent('standing', { trouble: trouble?.what[replyOptions.lang] ?? null })
    }
    const leave = feeds.hub.watch({
      published: published => {
        known = published
        outbox.replace(`id: ${published.height}\ndata: ${published.height}\n\n${statusEvent()}`)
      },
      beat: () => outbox.beat(statusEvent()),
      end,
    })
    const free = (): void => {
      permit.leave()
      leave()
      remove()
      outbox.close()
    }
    const pieces = async function* (): AsyncGenerator<Uint8Array, void, void> {
      // Milliseconds before a browser reconnects. After a stop, all browsers reconnect at the same time.
      yield encoder.encode('retry: 2000\n\n')
      for await (const text of outbox.items()) yield encoder.encode(text)
    }
    const body = createStream(pieces(), { client: request.signal, clock, stallMs, free })
    remove = feeds.add({ keyHash: undefined, end, cutOff: () => body.cutOff('stalled') })
    // Without X-Accel-Buffering, nginx would buffer events.
    const headers = { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }
    return { status: 200, type: FEED_TYPE, body, headers, form: 'raw' }
  }

/** Lists of pages as files for people: without a key, within the visits of a network, and of bounded length. */
const downloadHandler =
  (options: PagesOptions, gate: Gate): Handler =>
  async (exchange, signal, prolong) => {
    const { site, stallMs } = options
    const permits = admitVisitor(exchange, 'file', gate)
    const { path, query, lang } = parsePageRequest(exchange, site)
    const route = findRoute(downloads, path)
    if (route === undefined) throw new Failure('not_found', 'This page does not exist.', { zh: '此页面不存在。' })
    const file = route.found
    const { exactName } = file
    const running = { signal, acquire: permits.store(signal) }
    // The canonical name of the file's subject, since an owner can be addressed in several ways.
    const id = exactName ? await askAtOneHeight(options, ({ ask }) => exactName(ask, route.id), running) : route.id
    const request: FileRequest = { id, query, lang }
    const { module, action } = file.action
    const call = {
      query: Object.entries({ module, action, ...file.paramsOf(request) }),
      options: { ...OPTIONS, lang },
      format: 'csv',
    } as const
    return exportReply(options, call, {
      exchange,
      signal,
      prolong,
      permits,
      stallMs,
      describeFile: createDownloadForm(file, request),
    })
  }

const OPTIONS = {
  format: 'bare',
  compat: 'none',
  numbers: 'string',
  export: 'csv',
} as const satisfies Partial<Options>

/** Without a byte order mark, spreadsheets decode the text in a legacy code page. */
const BYTE_ORDER_MARK = '\ufeff'

/** The name of the column whose last cell says that the file is complete. */
const COMPLETE = { en: 'Rows of the complete file', zh: '完整文件的行数' }

const createDownloadForm =
  (file: Download, request: FileRequest): ExportForm =>
  opened => {
    // A file that is truncated would look complete.
    if (opened.total !== undefined && opened.total > MAX_ROWS) throw createTooLongFailure(opened.total, file, request)
    const { heads, cellsOf } = file.table(request)
    let sent = 0
    return {
      fileName: `${fileStem(file.names(request, opened.at))}.csv`,
      serializer: csvSerializer({
        heads,
        mark: BYTE_ORDER_MARK,
        complete: COMPLETE[request.lang],
        linesOf: rows => {
          const before = sent
          sent += rows.rows.length
          // The number of searched rows is known only while they are found. The client notices that the file
          // is incomplete.
          if (sent > MAX_ROWS) throw createTooLongFailure(undefined, file, request)
          return cellsOf(rows, before).map(csvLine)
        },
      }),
    }
  }

function createTooLongFailure(total: number | undefined, file: Download, request: FileRequest): Failure {
  const { module, action } = file.action
  const call = `api/${module}/${action}?${new URLSearchParams({ ...file.paramsOf(request), format: 'csv' })}`
  const shorter = file.isOfTime
    ? { en: 'Choose a shorter period, or take', zh: '请选择较短的区间，或' }
    : { en: 'Take', zh: '请' }
  const rows =
    total === undefined
      ? { en: `More than ${MAX_ROWS} rows pass these filters`, zh: `符合筛选条件的记录超过 ${MAX_ROWS} 条` }
      : { en: `This list has ${total} rows`, zh: `此列表共 ${total} 条` }
  return badRequest(
    {
      en: `${rows.en}; a file has at most ${MAX_ROWS}. ${shorter.en} the whole list from the API with a key: ${call}`,
      zh: `${rows.zh}；单个文件最多 ${MAX_ROWS} 条。${shorter.zh}使用 API key 通过 API 获取完整列表：${call}`,
    },
    file.isOfTime ? { parameter: 'from' } : {},
  )
}

/** Paths of the explorer as routes, in both languages. */
const listPageRoutes = (all: readonly { readonly path: string }[]): readonly string[] =>
  all.flatMap(({ path }) => {
    const route = path.replace('{id}', ':id').replace('{part}', ':part')
    return path === '/' ? ['/', '/zh', '/zh/'] : [route, `/zh${route}`]
  })

/**
 * The routes of explorer pages and downloads, and of all other paths. Without pages, `start` is at the root
 * and `unknown` elsewhere.
 */
export function explorerPages(
  options: PagesOptions,
  { gate, feeds, service, start, unknown }: Around,
): readonly (readonly [path: string, answer: Answerer])[] {
  const { site } = options
  if (!site.isExplored)
    return [
      ['/', start],
      ['/*', unknown],
    ]
  const { handler, failed } = explorerHandler(options, { site, gate })
  const paged = { ...service, writeFailure: failed }
  const page = respond('explorer', handler, paged)
  const file = respond('download', downloadHandler(options, gate), paged)
  const live = respond('live', liveHandler(options, { gate, feeds, counts: service.counts }), service)
  return [
    ...listPageRoutes(pages).map(path => [path, page] as const),
    ...listPageRoutes(downloads).map(path => [path, file] as const),
    ['/live', live],
    // Browsers accept HTML; programs send no such header or another value.
    [
      '/*',
      request => (request.headers.get('accept')?.includes('text/html') === true ? page(request) : unknown(request)),
    ],
  ]
}
