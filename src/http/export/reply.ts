import type { AnswerDeps, ApiCall } from '#actions/answer.ts'
import { type Export, type ExportOptions, openExport } from '#actions/export.ts'
import { type Book, formatRowLines, ROWS_AT_ONCE, type Rows } from '#actions/find/listing.ts'
import type { ExportFormat } from '#actions/request/options.ts'
import { Exact, RawJson, writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { fileStem, textCell } from '#explorer/download/file.ts'
import type { Failure } from '#failure/failure.ts'
import { type CallerPermits, getRequestKey, retryPermit } from '#gate/gate.ts'
import { hashOfKey } from '#keys/keyring.ts'
import { missingData } from '#store/failures.ts'
import { joinSignals } from '#time/deadline.ts'
import type { Exchange } from '../exchange.ts'
import type { OpenFeeds } from '../feed/open-feeds.ts'
import { acceptsGzip, type Reply } from '../reply.ts'
import { collectPieces, createStream, gzipPacker, needsLength, packTexts, plainPacker } from './stream.ts'

/** The format and the file name of an export. Throws when its list cannot be sent in that format. */
export type ExportForm = (opened: Export) => FormattedExport

type FormattedExport = {
  readonly serializer: RowSerializer
  readonly fileName: string
  /** Some rows have no line, so the number of rows is not the number of lines. */
  readonly leavesRowsOut?: true
}

/** The serialization of one export's rows, in order. The text says by itself where a whole list ends. */
type RowSerializer = {
  readonly type: string
  readonly rows: (rows: Rows) => string
  /** The text after the last row; `rows`: the number of rows. */
  readonly tail: (rows: number) => string
}

type ExportRequest = {
  readonly exchange: Exchange
  /** Aborts at the deadline, which holds until the first row. */
  readonly signal: AbortSignal
  readonly prolong: NonNullable<ExportOptions['prolong']>
  readonly permits: CallerPermits
  readonly stallMs: number
  /** Ends the export when its key is no longer valid; absent: it has no key. */
  readonly feeds?: Pick<OpenFeeds, 'add'>
  /** Absent: the format that the call names. */
  readonly describeFile?: ExportForm
}

/**
 * The reply with all rows of a list. Its resources (a permit, a view of the store) are released when the body
 * ends, for any reason. Throws like `openExport`, and 'rate_limited' or 'unavailable' when there is no permit.
 */
export async function exportReply(
  deps: AnswerDeps,
  call: ApiCall & { readonly format: ExportFormat },
  { exchange, signal, prolong, permits, stallMs, feeds, describeFile }: ExportRequest,
): Promise<Reply> {
  const { request } = exchange
  const permit = permits.export()
  const reading = joinSignals(signal)
  let opened: Export | undefined
  let remove: () => void = () => undefined
  let refusal: Failure | undefined
  const packs = acceptsGzip(request.headers.get('accept-encoding') ?? '')
  const packer = packs ? gzipPacker() : plainPacker
  const free = (): void => {
    permit.leave()
    remove()
    reading.abort(undefined)
    opened?.close()
    packer.close()
  }
  try {
    signal.throwIfAborted()
    const waiting = { clock: deps.clock, signal: reading.signal }
    const acquire = retryPermit(permits.store(reading.signal), () => opened !== undefined, waiting)
    opened = await openExport(deps, call, { signal: reading.signal, prolong, acquire })
    signal.throwIfAborted()
    const file = describeFile?.(opened) ?? describeExport(opened, call)
    const { serializer } = file
    if (opened.total !== undefined) permits.plan.require(Math.ceil(opened.total / ROWS_AT_ONCE) - 1)
    const texts = formatExportBody(opened, serializer, () => permits.plan.more(reading.signal))
    const pieces = packTexts(texts, packer)
    const headers = buildExportHeaders(opened, file)
    if (packs) headers['Content-Encoding'] = 'gzip'
    const reply = { status: 200, type: serializer.type, headers, form: 'raw' } as const
    const keyHash = feeds === undefined ? undefined : hashOfKey(getRequestKey(exchange))
    if (needsLength(request)) {
      const cutOff = (): void => reading.abort(undefined)
      const end = (failure: Failure): void => {
        refusal ??= failure
        cutOff()
      }
      remove = feeds?.add({ keyHash, isExport: true, end, cutOff }) ?? remove
      prolong(undefined)
      const body = await collectPieces(pieces)
      signal.throwIfAborted()
      return { ...reply, body, held: { stallMs, free } }
    }
    const body = createStream(pieces, { client: request.signal, clock: deps.clock, stallMs, free })
    const cutOff = (): void => body.cutOff('stalled')
    remove = feeds?.add({ keyHash, isExport: true, end: body.fail, cutOff }) ?? remove
    return { ...reply, body }
  } catch (error) {
    free()
    // The abort that follows a refusal is not the reason.
    throw refusal ?? error
  } finally {
    reading.release()
  }
}

function describeExport(opened: Export, { format, options }: ApiCall & { format: ExportFormat }): FormattedExport {
  if (opened.book !== undefined) return bookForm(opened.book)
  const { action, columns, at, beside, heights } = opened
  return {
    // A file of the past must not seem to be of now.
    fileName: `${[action.action, ...(heights ?? [at.height])].join('-')}.${format}`,
    serializer:
      format === 'csv'
        ? csvSerializer({ heads: columns ?? [action.list ?? ''], linesOf: rows => csvLines(rows, columns) })
        : {
            type: 'application/x-ndjson; charset=utf-8',
            rows: rows =>
              formatRowLines(rows, options)
                .map(line => `${line}\n`)
                .join(''),
            // It says that the list is complete, and of which block it is.
            tail: rows =>
              `${writeJson({ complete: true, rows, block_height: String(at.height), ...beside }, options)}\n`,
          },
  }
}

const buildExportHeaders = (
  { at, total }: Export,
  { fileName, leavesRowsOut }: Omit<FormattedExport, 'serializer'>,
): Record<string, string> => ({
  'Cache-Control': 'private, no-store',
  Vary: 'X-API-Key, Accept-Encoding',
  'X-Block-Height': String(at.height),
  'X-Block-Time': toIso(at.time),
  ...(total === undefined || leavesRowsOut === true ? {} : { 'X-Total-Count': String(total) }),
  // Without this header, nginx would buffer the whole body in a temporary file, however slowly the client reads.
  'X-Accel-Buffering': 'no',
  'Content-Disposition': `attachment; filename="${fileName}"`,
})

/** The body in texts of some hundred rows. Throws when the number of rows is not the announced one, if any. */
const formatExportBody = async function* (
  opened: Export,
  { rows, tail }: RowSerializer,
  begin: () => Promise<void>,
): AsyncGenerator<string, void, void> {
  let sent = 0
  for await (const part of opened.rows(begin)) {
    sent += part.rows.length
    const text = rows(part)
    if (text !== '') yield text
  }
  if (opened.total !== undefined && sent !== opened.total)
    throw missingData(`${sent} of ${opened.total} rows were read.`)
  yield tail(sent)
}

/** The line end of RFC 4180. */
const END = '\r\n'

/**
 * The last column of every file. It is empty but in the last line, where it has the number of lines below the names
 * of columns: a file that was cut has no such line. A line of its own would be a row to the programs that read files,
 * and hledger refuses it; a column that a program does not know is left alone.
 */
const COMPLETE = 'complete_rows'

/** A list as a file: the names of columns, and the lines of some rows. */
type CsvFile = {
  readonly heads: readonly string[]
  readonly linesOf: (rows: Rows) => readonly string[]
  /** What comes before the first line. */
  readonly mark?: string
  /** The name of the last column, for people. */
  readonly complete?: string
}

/**
 * A file of RFC 4180. A line is sent when the next one is known, since only the last one has the number of lines. The
 * names of columns go with the first line, or at the end: alone they are a whole file without rows.
 */
export function csvSerializer({ heads, linesOf, mark = '', complete = COMPLETE }: CsvFile): RowSerializer {
  let lines = 0
  let before = mark + [...heads, complete].map(quoteCell).join(',')
  return {
    type: 'text/csv; charset=utf-8; header=present',
    rows: rows => {
      let text = ''
      for (const line of linesOf(rows)) {
        text += lines === 0 ? `${before}${END}` : `${before},${END}`
        before = line
        lines += 1
      }
      return text
    },
    tail: () => (lines === 0 ? `${before}${END}` : `${before},${lines}${END}`),
  }
}

/**
 * Rows as lines of RFC 4180, without their ends: texts unchanged, numbers with all digits, arrays and objects as JSON
 * text, an empty cell for a field that is absent or null. `columns` undefined: each row is one value.
 */
export const csvLines = ({ rows, data }: Rows, columns: readonly string[] | undefined): readonly string[] =>
  rows.map((row, at) => {
    if (columns === undefined) return formatCell(row)
    const fields = row as Readonly<Record<string, unknown>>
    let line = ''
    for (let column = 0; column < columns.length; column++) {
      const name = columns[column] ?? ''
      if (column > 0) line += ','
      line += formatCell(name === 'data' && data !== undefined ? data[at] : fields[name])
    }
    return line
  })

/** A line of cells, without its end. */
export const csvLine = (cells: readonly unknown[]): string => cells.map(formatCell).join(',')

function formatCell(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoteCell(value)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'undefined':
      return ''
    default:
      if (value === null) return ''
      if (value instanceof Exact) return value.text
      return quoteCell(value instanceof RawJson ? value.text : writeJson(value))
  }
}

/** Characters that need quotes in a cell. */
const SPECIAL = /[",\r\n]/

const quoteCell = (text: string): string => (SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/**
 * A list in the columns of an accounting program, as a CSV file. No text in it is a formula that a
 * spreadsheet would run.
 */
export const bookForm = ({ heads, linesOf, names }: Book): FormattedExport => ({
  fileName: `${fileStem(names)}.csv`,
  leavesRowsOut: true,
  serializer: csvSerializer({
    heads,
    linesOf: rows =>
      linesOf(rows).map(line => csvLine(line.map(cell => (typeof cell === 'string' ? textCell(cell) : cell)))),
  }),
})
