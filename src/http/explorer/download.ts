import type { AnswerDeps } from '#actions/answer.ts'
import { askAtOneHeight } from '#actions/ask.ts'
import type { Export } from '#actions/export.ts'
import type { Options } from '#actions/request/options.ts'
import { badRequest } from '#actions/request/refusals.ts'
import { downloads } from '#explorer/download/downloads.ts'
import { type Download, type FileRequest, fileStem, MAX_ROWS } from '#explorer/download/file.ts'
import { findRoute } from '#explorer/links.ts'
import type { Site } from '#explorer/page.ts'
import { Failure } from '#failure/failure.ts'
import { createPermits } from '#gate/gate.ts'
import type { Handler } from '../exchange.ts'
import { csvLine, csvSerializer, type ExportForm } from '../export/csv.ts'
import { exportReply } from '../export/reply.ts'
import { counted, type ExplorerGate, planOfVisitor } from './gate.ts'
import { parsePageRequest } from './handler.ts'

type DownloadOptions = ExplorerGate & { readonly site: Site; readonly stallMs: number }

/** Lists of pages as files for people: without a key, within the visits of a network, and of bounded length. */
export const downloadHandler =
  (deps: AnswerDeps, options: DownloadOptions): Handler =>
  async (exchange, signal, prolong) => {
    const { site, queues, stallMs } = options
    const key = counted(options, exchange, 'visit')
    queues.visitors.check(key)
    const { path, query, lang } = parsePageRequest(exchange, site)
    const route = findRoute(downloads, path)
    if (route === undefined) throw new Failure('not_found', 'This page does not exist.', { zh: '此页面不存在。' })
    const { found: file } = route
    const plan = planOfVisitor(options, exchange, deps.clock)
    const permits = createPermits(queues, { key, plan, isVisitor: true })
    const id = await exactName(deps, { file, id: route.id }, { signal, acquire: permits.store(signal) })
    const request: FileRequest = { id, query, lang }
    const { module, action } = file.action
    const call = {
      query: Object.entries({ module, action, ...file.paramsOf(request) }),
      options: { ...OPTIONS, lang },
      format: 'csv',
    } as const
    return exportReply(deps, call, {
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

/** The canonical name of a file's subject, since an owner can be addressed in several ways. */
async function exactName(
  deps: AnswerDeps,
  { file, id }: { readonly file: Pick<Download, 'exactName'>; readonly id: string },
  running: Parameters<typeof askAtOneHeight>[2],
): Promise<string> {
  const { exactName } = file
  return exactName === undefined ? id : askAtOneHeight(deps, ({ ask }) => exactName(ask, id), running)
}

/** Without a byte order mark, spreadsheets decode the text in a legacy code page. */
const BYTE_ORDER_MARK = '\ufeff'

/** The name of the column whose last cell says that the file is complete. */
const COMPLETE = { en: 'Rows of the complete file', zh: '完整文件的行数' }

const createDownloadForm =
  (file: Download, request: FileRequest): ExportForm =>
  opened => {
    refuseBeyond(opened, file, request)
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
          if (sent > MAX_ROWS) throw beyond(undefined, file, request)
          return cellsOf(rows, before).map(csvLine)
        },
      }),
    }
  }

/** Refuses a file that would be truncated: it would look complete. */
function refuseBeyond({ total }: Export, file: Download, request: FileRequest): void {
  if (total !== undefined && total > MAX_ROWS) throw beyond(total, file, request)
}

function beyond(total: number | undefined, file: Download, request: FileRequest): Failure {
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
