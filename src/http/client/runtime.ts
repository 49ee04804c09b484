import { linesOf, pause } from './lines.ts'

/** Address and settings of a client. */
export type ClientOptions = {
  /** Address of the service, with its path prefix where it has one: `https://example.org/iost`. */
  readonly url: string
  /** The API key. It is sent in a header, never in a URL. */
  readonly key: string
  /** Language of error messages; chosen by the service unless given. */
  readonly lang?: 'en' | 'zh'
  /**
   * Maximum number of retries of a request, 4 unless given: after 429 and 503 once the time in Retry-After is
   * over, and after a network failure. Requests only read, so a retry is harmless.
   */
  readonly retries?: number
  /** The longest wait before a retry, in seconds, 60 unless given. The call fails when more is required. */
  readonly longestWait?: number
  /** Used instead of the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export type CallOptions = {
  /** Aborts the request, and the wait before a retry. */
  readonly signal?: AbortSignal
}

type Args<P> = Partial<P> extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions]

/** A query. Throws IostlensError when the service refuses it. */
export type Call<P, D> = (...args: Args<P>) => Promise<D>

/** A query that answers with a list. */
export type WholeList<P, D, R> = Call<P, D> & {
  /** Every row at one height, as it arrives. Throws when the answer is incomplete. To stop early, `break`. */
  readonly whole: (...args: Args<Omit<P, 'page' | 'size'>>) => AsyncGenerator<R, Complete>
}

/** The end of a whole list: the number of its rows, and their height. */
export type Complete = { readonly rows: number; readonly block_height: string }

/** A query whose answers are pages of a list. */
export type List<P, D, R> = WholeList<P, D, R> & {
  /**
   * Pages from `page` on, while there are any. A ranking may change while its pages are read; `whole` does not. With
   * `head: 1` each page begins after the last row of the previous one, and a replaced row throws (status 409).
   */
  readonly pages: (...args: Args<P>) => AsyncGenerator<D, void>
  /** Every row of all pages. */
  readonly rows: (...args: Args<Omit<P, 'page'>>) => AsyncGenerator<R, void>
}

/**
 * A list whose rows have a number, `seq`. `rows` continues by it, so that no row is lost or repeated while
 * the list grows. To follow it, request `{ sort: 'asc', start_seq: last.seq + 1 }`. Rows without a number
 * (`head: 1`) are only in pages and feeds.
 */
export type NumberedList<P, D, R> = Call<P, D> &
  Pick<List<P, D, R>, 'pages'> &
  Pick<List<Omit<P, 'head'>, D, R & Seq>, 'whole' | 'rows'>
export type Seq = { readonly seq: number }

/** An unexpected answer: a refusal of the service, or the answer of a proxy between it and the caller. */
export class IostlensError extends Error {
  override readonly name = 'IostlensError'
  /** HTTP status. */
  readonly status: number
  /** The code of the service, such as 4040; 0 when the answer is not the service's. */
  readonly code: number
  /** Identifies the request in the log of the service; empty when the answer is not the service's. */
  readonly requestId: string
  /** Seconds after which the same request may succeed; undefined: unknown. */
  readonly retryAfter: number | undefined

  constructor(message: string, of: Pick<IostlensError, 'status' | 'code' | 'requestId' | 'retryAfter'>) {
    super(message)
    this.status = of.status
    this.code = of.code
    this.requestId = of.requestId
    this.retryAfter = of.retryAfter
  }
}

type Params = Readonly<Record<string, string | number | undefined>>
type Ask = <T>(
  request: {
    readonly path: string
    readonly params: Params
    readonly headers?: Readonly<Record<string, string>>
    readonly read: (response: Response) => Promise<T>
  },
  options?: CallOptions,
) => Promise<T>

/** The form of answers, independent of the service's defaults. */
const FORM = { format: 'envelope', compat: 'none', numbers: 'string' }
const RETRIES = 4
const LONGEST_WAIT = 60
/** Wait after the first network failure, in seconds. Each further failure doubles it. */
const NETWORK_WAIT = 0.5

/** Sends requests of a client, with retries where these help. */
const asking = ({ url, key, lang, retries = RETRIES, longestWait = LONGEST_WAIT, ...given }: ClientOptions): Ask => {
  const send = given.fetch ?? ((to: string, init: RequestInit) => fetch(to, init))
  const base = url.replace(/(?<!\/)\/*$/, '/')
  return async ({ path, params, headers, read }, { signal } = {}) => {
    const to = `${base}api/${path}?${queryOf({ ...FORM, lang, ...params })}`
    const init = { headers: { ...headers, 'X-API-Key': key }, ...(signal === undefined ? {} : { signal }) }
    for (let again = 0; ; again++) {
      try {
        const response = await send(to, init)
        if (!response.ok) throw await refusalOf(response)
        return await read(response)
      } catch (failure) {
        signal?.throwIfAborted()
        const wait = waitAfter(failure, again)
        if (again >= retries || wait === undefined || wait > longestWait) throw failure
        await pause(wait, signal)
      }
    }
  }
}

/** Seconds until the retry; undefined: a retry is useless. */
const waitAfter = (failure: unknown, again: number): number | undefined =>
  failure instanceof IostlensError ? failure.retryAfter : NETWORK_WAIT * 2 ** again

const queryOf = (params: Params): string => {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  return String(new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string])))
}

/** The error that a response reports. */
const refusalOf = async (response: Response): Promise<IostlensError> => {
  const { status } = response
  const retryAfter = secondsOf(response.headers.get('retry-after'))
  const text = await response.text()
  try {
    const { code, message, request_id: requestId } = JSON.parse(text)
    if (typeof code === 'number' && typeof message === 'string' && typeof requestId === 'string')
      return new IostlensError(message, { status, code, requestId, retryAfter })
  } catch {
    // The answer is not the service's: proxies answer in their own form.
  }
  const message = `The response with status ${status} does not come from the service.`
  return new IostlensError(message, { status, code: 0, requestId: '', retryAfter })
}

/** Parses Retry-After (RFC 9110 10.2.3): seconds, or a date. */
const secondsOf = (header: string | null): number | undefined => {
  if (header === null) return undefined
  if (/^[0-9]+$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000)
}

type Get<D> = (params?: Params, options?: CallOptions) => Promise<D>

const call =
  <D>(ask: Ask, path: string): Get<D> =>
  (params = {}, options) =>
    ask({ path, params, read: dataOf<D> }, options)

const dataOf = async <D>(response: Response): Promise<D> => JSON.parse(await response.text()).data

/** The fields that every page has. */
type Paged = {
  readonly page: number
  readonly size: number
  /** null: the rows are searched, so their number is unknown. */
  readonly total: number | null
  /** The position at which a search continues. */
  readonly next?: string
}
/** Extracts the rows of a page. */
type RowsOf<D, R> = (data: D) => readonly R[]

const wholeList = <D, R>(ask: Ask, path: string, _rowsOf?: RowsOf<D, R>) => {
  const get = call<D>(ask, path)
  return Object.assign((params?: Params, options?: CallOptions) => get(params, options), {
    whole: (params: Params = {}, options?: CallOptions) =>
      wholeOf<R>(() =>
        ask({ path, params: { ...params, format: 'ndjson' }, read: async response => response }, options),
      ),
  })
}

const list = <D extends Paged, R>(ask: Ask, path: string, rowsOf: RowsOf<D, R>) => {
  const get = call<D>(ask, path)
  const pages = (params: Params = {}, options?: CallOptions) => pagesOf({ get, rowsOf }, params, options)
  return Object.assign(wholeList(ask, path, rowsOf), {
    pages,
    rows: async function* (params: Params = {}, options?: CallOptions): AsyncGenerator<R, void> {
      for await (const data of pages({ size: MOST_ROWS, ...params }, options)) yield* rowsOf(data)
    },
  })
}

const numberedList = <D extends Paged, R extends object>(ask: Ask, path: string, rowsOf: RowsOf<D, R>) => {
  const get = call<D>(ask, path)
  return Object.assign(wholeList<D, R & Seq>(ask, path), {
    pages: list(ask, path, rowsOf).pages,
    rows: (given: Params = {}, options?: CallOptions) => rowsBySeq({ get, rowsOf }, given, options),
  })
}

/** Default rows per page: the maximum of the service. */
const MOST_ROWS = 500

const pagesOf = async function* <D extends Paged, R>(
  { get, rowsOf }: { readonly get: Get<D>; readonly rowsOf: RowsOf<D, R> },
  params: Params,
  options: CallOptions | undefined,
): AsyncGenerator<D, void> {
  let next: Params = { page: params['page'] ?? 1 }
  for (;;) {
    const data = await get({ ...params, ...next }, options)
    yield data
    if (data.next !== undefined) {
      next = { after: data.next }
      continue
    }
    if (data.total === null || data.page * data.size >= data.total) return
    const last = rowsOf(data).at(-1) as { readonly id?: string } | undefined
    const isBehind = params['head'] === 1 && last?.id !== undefined
    next = isBehind ? { page: 1, after: last.id } : { page: data.page + 1 }
  }
}

/** Continues after the last row by its number: forwards with sort=asc, else backwards. */
const rowsBySeq = async function* <D extends Paged, R extends object>(
  { get, rowsOf }: { readonly get: Get<D>; readonly rowsOf: RowsOf<D, R> },
  params: Params,
  options: CallOptions | undefined,
): AsyncGenerator<R & Seq, void> {
  let range: Params = {}
  for (;;) {
    const data = await get({ size: MOST_ROWS, ...params, ...range, head: undefined }, options)
    const rows = rowsOf(data).filter((row): row is R & Seq => 'seq' in row && row.seq !== undefined)
    yield* rows
    if (data.next !== undefined || data.total === null || (rows.length === 0 && rowsOf(data).length > 0))
      throw new TypeError('Rows that are searched for, and steps, have no seq: read them with pages or whole.')
    const last = rows.at(-1)
    if (last === undefined || rows.length >= data.total) return
    range = params['sort'] === 'asc' ? { start_seq: last.seq + 1 } : { end_seq: last.seq - 1 }
  }
}

/** Rows of an NDJSON body. Only its last line proves that it is complete. */
const wholeOf = async function* <R>(open: () => Promise<Response>): AsyncGenerator<R, Complete> {
  const { body, status, headers } = await open()
  let held: string | undefined
  let rows = 0
  for await (const line of linesOf(body)) {
    if (held !== undefined) {
      const row: R = JSON.parse(held)
      rows++
      yield row
    }
    held = line
  }
  const last = endOf(held ?? '')
  if (last?.complete === true && last.rows === rows) return { rows, block_height: last.block_height }
  const of = { status, code: 0, requestId: headers.get('x-request-id') ?? '', retryAfter: undefined }
  throw new IostlensError(`The list broke off after ${rows} rows.`, of)
}

const endOf = (line: string): (Complete & { readonly complete?: boolean }) | undefined => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

// Only the client below uses these.
export { type Args, type Ask, asking, call, list, numberedList, type Paged, type Params, type RowsOf, wholeList }
