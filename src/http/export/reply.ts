import type { AcquirePermit, AnswerDeps, ApiCall } from '#actions/answer.ts'
import { type Export, type ExportOptions, openExport } from '#actions/export.ts'
import { formatRowLines, ROWS_AT_ONCE } from '#actions/find/listing.ts'
import type { ExportFormat } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { Failure } from '#failure/failure.ts'
import { type CallerPermits, getRequestKey, retryPermit } from '#gate/gate.ts'
import { hashOfKey } from '#keys/keyring.ts'
import { missingData } from '#store/failures.ts'
import { joinSignals } from '#time/deadline.ts'
import type { Exchange } from '../exchange.ts'
import type { OpenFeeds } from '../feed/open-feeds.ts'
import { acceptsGzip, type Reply } from '../reply.ts'
import { bookForm, csvLines, csvSerializer, type ExportForm, type FormattedExport, type RowSerializer } from './csv.ts'
import { collectPieces, createStream, gzipPacker, needsLength, packed, plainPacker } from './stream.ts'

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
    const own = permits.store(reading.signal)
    const later = retryPermit(own, deps.clock, reading.signal)
    const acquire: AcquirePermit = () => (opened === undefined ? own : later)()
    opened = await openExport(deps, call, { signal: reading.signal, prolong, acquire })
    signal.throwIfAborted()
    const file = describeFile?.(opened) ?? describeExport(opened, call)
    const { serializer } = file
    if (opened.total !== undefined) permits.plan.require(Math.ceil(opened.total / ROWS_AT_ONCE) - 1)
    const texts = formatExportBody(opened, serializer, () => permits.plan.more(reading.signal))
    const pieces = packed(texts, packer)
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
