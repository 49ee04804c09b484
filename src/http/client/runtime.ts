import { linesOf, pause } from './lines.ts'

/** Where the service is, and how it is asked. */
export type ClientOptions = {
  /** Address of the service, with its path prefix where it has one: `https://example.org/iost`. */
  readonly url: string
  /** The API key. It is sent in a header, never in a URL. */
  readonly key: string
  /** Language of error messages; the service decides unless given. */
  readonly lang?: 'en' | 'zh'
  /**
   * How often a request is sent again, 4 times unless given: after 429 and 503 once the time in Retry-After is over, and
   * after a failure of the network. Every request reads only, so sending it again is harmless.
   */
  readonly retries?: number
  /** The longest wait for another try, in seconds, 60 unless given; when the service asks for more, the call fails. */
  readonly longestWait?: number
  /** Used instead of the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export type CallOptions = {
  /** Ends the request, and the wait for another try. */
  readonly signal?: AbortSignal
}

type Args<P> = Partial<P> extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions]

/** A query. Throws IostlensError when the service refuses it. */
export type Call<P, D> = (...args: Args<P>) => Promise<D>

/** A query that answers with a list. */
export type WholeList<P, D, R> = Call<P, D> & {
  /** Every row of one height, as it comes; throws when the answer breaks off. Stop early with `break`. */
  readonly whole: (...args: Args<Omit<P, 'page' | 'size'>>) => AsyncGenerator<R, Complete>
}

/** The end of a whole list: how many rows it has, and the height they are of. */
export type Complete = { readonly rows: number; readonly block_height: string }

/** A query whose answers are pages of a list. */
export type List<P, D, R> = WholeList<P, D, R> & {
  /**
   * Pages from `page` on, as long as there are any. A ranking may move while it is read page by page; `whole` does not. With
   * `head: 1` each page begins behind the last row of the one before; it throws (status 409) when that row was replaced.
   */
  readonly pages: (...args: Args<P>) => AsyncGenerator<D, void>
  /** Every row, from page to page. */
  readonly rows: (...args: Args<Omit<P, 'page'>>) => AsyncGenerator<R, void>
}

/**
 * A list whose rows have a number, `seq`. `rows` reads on by it, so no row is lost or comes twice however the list grows; to
 * follow it, ask again with `{ sort: 'asc', start_seq: last.seq + 1 }`. Rows without a number (`head: 1`) come only in pages and feeds.
 */
export type NumberedList<P, D, R> = Call<P, D> &
  Pick<List<P, D, R>, 'pages'> &
  Pick<List<Omit<P, 'head'>, D, R & Seq>, 'whole' | 'rows'>
export type Seq = { readonly seq: number }

/** An answer that is not what was asked for: a refusal of the service, or of something between it and the caller. */
export class IostlensError extends Error {
  override readonly name = 'IostlensError'
  /** HTTP status. */
  readonly status: number
  /** The code of the service, such as 4040; 0 when the answer is not the service's. */
  readonly code: number
  /** Finds the request in the log of the service; empty when the answer is not the service's. */
  readonly requestId: string
  /** Seconds after which the same request may succeed; undefined: it was not said. */
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

/** Whatever the service's own defaults are, answers are of this form. */
const FORM = { format: 'envelope', compat: 'none', numbers: 'string' }
const RETRIES = 4
const LONGEST_WAIT = 60
/** Wait after a first failure of the network, in seconds; twice as long after each further one. */
const NETWORK_WAIT = 0.5

/** Sends requests of a client, again where that helps. */
const asking = ({
  url,
  key,
  lang,
  retries = RETRIES,
  longestWait = LONGEST_WAIT,
  ...given
}: ClientOptions): Ask => {
  const send = given.fetch ?? ((to: string, init: RequestInit) => fetch(to, init))
  const base = url.replace(/\/*$/, '/')
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

/** Seconds until another try, undefined where that is in vain. */
const waitAfter = (failure: unknown, again: number): number | undefined =>
  failure instanceof IostlensError ? failure.retryAfter : NETWORK_WAIT * 2 ** again

const queryOf = (params: Params): string => {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  return String(new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string])))
}

/** The failure that a response tells. */
const refusalOf = async (response: Response): Promise<IostlensError> => {
  const { status } = response
  const retryAfter = secondsOf(response.headers.get('retry-after'))
  const text = await response.text()
  try {
    const { code, message, request_id: requestId } = JSON.parse(text)
    if (typeof code === 'number' && typeof message === 'string' && typeof requestId === 'string')
      return new IostlensError(message, { status, code, requestId, retryAfter })
  } catch {
    // Not of the service: a proxy answers in its own way.
  }
  const message = `The response has status ${status} and is not one of the service.`
  return new IostlensError(message, { status, code: 0, requestId: '', retryAfter })
}

/** RFC 9110 10.2.3: seconds, or a date. */
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

/** What every page says of itself. */
type Paged = {
  readonly page: number
  readonly size: number
  /** null: rows are searched for, and nobody knows their number. */
  readonly total: number | null
  /** Where a search goes on. */
  readonly next?: string
}
/** How the rows are taken out of a page. */
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

/** Rows of a page unless the caller says otherwise: the most that the service gives. */
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

/** Reads on behind the last row by its number: forwards with sort=asc, else backwards. */
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
      throw new TypeError(
        'Rows that are searched for, and steps, have no seq: read them with pages or whole.',
      )
    const last = rows.at(-1)
    if (last === undefined || rows.length >= data.total) return
    range = params['sort'] === 'asc' ? { start_seq: last.seq + 1 } : { end_seq: last.seq - 1 }
  }
}

/** Rows of an NDJSON body. Only its last line says that it is whole. */
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
export {
  type Args,
  type Ask,
  asking,
  call,
  list,
  numberedList,
  type Paged,
  type Params,
  type RowsOf,
  wholeList,
}
