import { Failure } from '#failure/failure.ts'
import type { Published, View } from '#store/port.ts'
import {
  type AcquirePermit,
  type AnswerDeps,
  type ApiCall,
  answer,
  createContext,
  holdPermit,
  type Permit,
  readCall,
} from './answer.ts'
import type { ApiAction, Context, ListSource } from './define.ts'
import { readOneChain } from './find/blocks-at.ts'
import {
  type Book,
  createMemoryListing,
  type Listing,
  ROWS_AT_ONCE,
  type Rows,
  readParts,
  splitRuns,
} from './find/listing.ts'
import { getExportFacts } from './list/paging.ts'
import { isLongFound } from './list/search.ts'
import type { SearchListing } from './list/searched.ts'
import type { ExportFormat } from './request/options.ts'
import { findSingleValue, type Query } from './request/query.ts'
import { badRequest } from './request/refusals.ts'
import { findColumns, pickOtherFields } from './shape/results.ts'

export type Export = {
  readonly action: ApiAction
  readonly at: Published
  /** Number of rows; undefined: unknown until all are read. */
  readonly total: number | undefined
  /** Columns and lines in the form of an accounting program; undefined: rows have their own fields. */
  readonly book?: Book | undefined
  /** Fields of its answer beside the rows, such as the point of the past that it is of. */
  readonly beside?: object | undefined
  /** Heights of the past that its rows are of, in order; undefined: that of `at`. */
  readonly heights?: readonly number[] | undefined
  /** Names of the fields of a row, in order; undefined: rows are single values. */
  readonly columns: readonly string[] | undefined
  /**
   * The rows in order, in chunks that fit in memory. Awaits `begin` before each thousand but the first. Throws Failure
   * when the rows cannot all be read at the height; the rows so far are then not a complete list.
   */
  rows(begin: () => Promise<void>): AsyncGenerator<Rows, void, void>
  close(): void
}

/** `signal` aborts all reading; each read waits for its permit. */
export type ExportOptions = Pick<Context, 'signal' | 'prolong'> & { readonly acquire: AcquirePermit }

/**
 * Opens the export of a list. Throws Failure: 'bad_request' also for an action without a list, and for page
 * parameters; otherwise like `answer`.
 */
export async function openExport(
  deps: AnswerDeps,
  call: ApiCall & { readonly format: ExportFormat },
  options: ExportOptions,
): Promise<Export> {
  const { action, params } = readCall(call)
  const isPaged = Object.hasOwn(action.params.properties, 'page')
  if (action.list === undefined || (isPaged && action.source === undefined))
    throw badRequest(
      {
        en: `Parameter 'format' is '${call.format}', which is for actions that return a list; use envelope or bare.`,
        zh: `参数 'format' 的值 '${call.format}' 仅适用于返回列表的接口；请使用 envelope 或 bare。`,
      },
      { parameter: 'format' },
    )
  refusePages(call)
  // Clients keep a whole list, so it excludes rows that may still be replaced.
  if (params['head'] === 1)
    throw badRequest(
      {
        en: `Parameter 'head' is 1, which does not go with format=${call.format}: a whole list has irreversible rows only; leave it out, or request pages.`,
        zh: `参数 'head' 的值为 1，不能与 format=${call.format} 同时使用：完整列表只含不可逆的记录；请去掉此参数，或分页请求。`,
      },
      { parameter: 'head' },
    )
  const compat = call.options.compat === 'iostabc' ? action.compatResult : undefined
  const columns = findColumns(compat ?? action.result, action.list)?.usual
  const { source } = action
  if (source === undefined)
    return { action, columns, ...(await readWhole(deps, call, { ...options, list: action.list })) }
  const open: Open = async (view, { waitForNode, longWork }, isDryRun) => {
    const { compat } = call.options
    const { signal, prolong } = options
    const asked = { params, view, compat, waitForNode, longWork, signal, prolong }
    try {
      return await source.open(
        createContext(deps, { ...asked, isWhole: true, ...(isDryRun === true ? { isDryRun } : {}) }),
        params,
      )
    } catch (error) {
      // The old service returns no rows for unknown things.
      if (compat === 'iostabc' && error instanceof Failure && error.kind === 'not_found') return createMemoryListing([])
      throw error
    }
  }
  const opened = source.state.length > 0 ? hold(deps, source, { ...options, open }) : follow(deps, { ...options, open })
  const { added, ...others } = await opened
  // Rows found by a search have no number in a list.
  const own = added && columns && [...added, ...columns.filter(name => name !== 'seq')]
  return { action, columns: own ?? columns, ...others }
}

type Open = (view: View, waits: Permit, isDryRun?: true) => Promise<Listing | SearchListing>
type Opened = Omit<Export, 'action' | 'columns'> & {
  /** Absent: the usual ones of the list. */
  readonly columns?: readonly string[]
  /** Fields of the rows of a search in addition to the usual ones; absent: it is no search. */
  readonly added?: readonly string[]
}

/** A list that is short enough for a single answer. */
async function readWhole(
  deps: AnswerDeps,
  call: ApiCall,
  { list, ...options }: ExportOptions & { readonly list: string },
): Promise<Opened> {
  const { data, at } = await answer(deps, call, options)
  const fields = data as Readonly<Record<string, unknown>>
  const rows = (fields[list] ?? []) as readonly unknown[]
  const { columns, heights } = getExportFacts(data)
  const listing: Listing = {
    ...createMemoryListing(rows),
    beside: pickOtherFields(fields, list),
    ...(heights === undefined ? {} : { heights }),
    ...(columns === undefined ? {} : { columns }),
  }
  return createExportSource(listing, at, work => work(NO_VIEW))
}

/** For rows in memory, which need no view. */
const NO_VIEW = undefined as unknown as View

/**
 * A list of history. Its rows never change, and rows of later blocks lie beyond its count, so each read may
 * be at any later height. Only a repair can roll blocks back. As long as the store has the block of the
 * height with the same hash, all rows up to it belong to the same chain.
 */
async function follow(
  { store }: AnswerDeps,
  { signal, acquire, open }: ExportOptions & { readonly open: Open },
): Promise<Opened> {
  const { listing, at } = await holdPermit(acquire, permit =>
    store.read(async view => ({ listing: await open(view, permit), at: view.at }), { signal }),
  )
  const read: Read = work =>
    holdPermit(acquire, () => store.read(view => readOneChain(view, [at], () => work(view)), { signal }))
  if (!('search' in listing)) return createExportSource(listing, at, read)
  const { total, fields: added, book } = listing
  return { at, total, added, book, rows: begin => readFoundRows(listing, read, begin), close: () => undefined }
}

/** A list of state, which changes with every height. The store holds a snapshot for it. */
async function hold(
  { store }: AnswerDeps,
  { state }: ListSource,
  { signal, acquire, open }: ExportOptions & { readonly open: Open },
): Promise<Opened> {
  // This read refuses like any answer, also when rows are missing because data is lost.
  await holdPermit(acquire, permit => store.read(view => open(view, permit, true), { signal }))
  const held = await holdPermit(acquire, () => store.hold({ state, signal }))
  try {
    const listing = await holdPermit(acquire, permit => open(held.view, permit))
    if ('search' in listing) throw new Failure('defect', 'Lists of state are not searched.')
    return {
      ...createExportSource(listing, held.view.at, work => holdPermit(acquire, () => work(held.view))),
      close: held.close,
    }
  } catch (error) {
    held.close()
    throw error
  }
}

type Read = <T>(work: (view: View) => Promise<T>) => Promise<T>

const createExportSource = (listing: Listing, at: Published, read: Read): Opened => ({
  at,
  total: listing.total,
  book: listing.book,
  beside: listing.beside,
  heights: listing.heights,
  ...(listing.columns === undefined ? {} : { columns: listing.columns }),
  rows: begin => readExportRows(listing, read, begin),
  close: () => undefined,
})

/** Thousands of rows that are read ahead while one is written and sent. */
const AHEAD = 2

/** Up to a thousand documents: those that fit in memory already as rows, the others for later. */
type Part = { readonly rows: Rows; readonly later: readonly (readonly unknown[])[] }

/**
 * Results of the jobs 0 … `count` − 1, in order. While one is used, up to `most` further jobs are running.
 * The first failure ends the sequence; jobs that are still running are not cancelled.
 */
export const prefetchResults = async function* <T>(
  { count, most }: { readonly count: number; readonly most: number },
  start: (job: number) => Promise<T>,
): AsyncGenerator<T, void, void> {
  const underWay: Promise<T>[] = []
  let started = 0
  for (let at = 0; at < count; at++) {
    for (; started < count && started <= at + most; started++) {
      const job = start(started)
      // A failure is reported in its turn, and ignored if the caller has stopped.
      job.catch(() => undefined)
      underWay.push(job)
    }
    yield (await underWay.shift()) as T
  }
}

const readExportRows = async function* (
  listing: Listing,
  read: Read,
  begin: () => Promise<void>,
): AsyncGenerator<Rows, void, void> {
  const { total, rows } = listing
  let begun: Promise<void> = Promise.resolve()
  const readPart = async (part: number): Promise<Part> => {
    // In order, because they are counted.
    if (part > 0) begun = begun.then(begin)
    await begun
    return read(async view => {
      const { ahead, later } = await readParts(view, listing, { offset: part * ROWS_AT_ONCE, total })
      return { rows: ahead.length === 0 ? NO_ROWS : await rows(view, ahead), later }
    })
  }
  for await (const part of prefetchResults({ count: Math.ceil(total / ROWS_AT_ONCE), most: AHEAD }, readPart)) {
    yield part.rows
    for (const docs of part.later) yield await read(view => rows(view, docs))
  }
}

const NO_ROWS: Rows = { rows: [] }

/** Rows found by a search, one chunk per thousand rows searched. */
const readFoundRows = async function* (
  { search, rowsOf: shown }: SearchListing,
  read: Read,
  begin: () => Promise<void>,
): AsyncGenerator<Rows, void, void> {
  for (let rest = search, isFirst = true; !rest.isOver; isFirst = false) {
    if (!isFirst) await begin()
    const before = rest
    const looked = await read(view => before.next(view, ROWS_AT_ONCE))
    for (const part of splitRuns(looked.found, isLongFound)) yield await read(view => shown(view, part))
    rest = looked.rest
  }
}

/** A part of an export would look like the whole. */
function refusePages({ query, format }: { readonly query: Query; readonly format: ExportFormat }): void {
  for (const name of ['page', 'size'])
    if (findSingleValue(query, name) !== undefined)
      throw badRequest(
        {
          en: `Parameter '${name}' does not go with format=${format}, which returns the whole list; leave it out.`,
          zh: `参数 '${name}' 不能与 format=${format} 同时使用：该格式返回完整列表；请去掉此参数。`,
        },
        { parameter: name },
      )
}
