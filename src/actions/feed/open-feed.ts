import { Failure, toFailure } from '#failure/failure.ts'
import type { Published, View } from '#store/port.ts'
import { type AnswerDeps, readCall } from '../answer.ts'
import { isOnChain, readRowIds } from '../find/blocks-at.ts'
import { formatRowLines, type Listing, ROWS_AT_ONCE, readParts, splitRuns } from '../find/listing.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import { isLongFound, openLaterSearch } from '../list/search.ts'
import type { RowSearch, SearchListing } from '../list/searched.ts'
import { rowIdText } from '../request/row-id.ts'
import {
  type Feed,
  type FeedCall,
  type FeedOptions,
  type FeedReading,
  type InView,
  openSource,
  readInView,
  requireFeed,
  requireLastRow,
  requireLastSeq,
  SEARCHED_STARTS,
} from './feed.ts'
import {
  buildFeedPart,
  endOfBlock,
  type FeedEnd,
  type FeedPart,
  findCommonHeight,
  findReset,
  formatFeedId,
  formatLastRow,
  type LastRow,
  type Message,
  readTrail,
  type Trail,
} from './message.ts'
import type { FeedList } from './new-rows.ts'

type SearchedPosition = {
  readonly listing: SearchListing
  /** The part of the search up to a height that remains. */
  readonly rest: RowSearch
  readonly at: Published
  /** Number of rows of each list at that height. */
  readonly counts: readonly number[]
  /** Number of rows that may still be tested before the next request is counted. */
  readonly room: number
  /** The last row that was sent, or the reader's start; undefined: the start of the requested range. */
  readonly last: LastRow | undefined
}

/**
 * The feed of a search: rows after `last`, else those of a range that has a start, else new ones only. Each new height
 * is read for this feed alone. Throws 'replaced' when another block has replaced the block of `last`.
 */
async function openSearchedFeed(reading: FeedReading, last: LastRow | undefined): Promise<Feed> {
  const { params, action } = reading
  const isBegun = last !== undefined || SEARCHED_STARTS.some(name => params[name] !== undefined)
  const { at, begin, messages } = await readInView(reading, async (read): Promise<Opened> => {
    const { at } = read.view
    const begin = isBegun ? last : await endOfBlock(read.view, at)
    const reset = await findReset(read.view, begin)
    if (reset !== undefined) return { at, begin, messages: () => streamAlone(reset) }
    const listing = await openSearchListing(reading, read, begin)
    const position = { listing, rest: listing.search, at, counts: listing.counts, room: ROWS_AT_ONCE, last: begin }
    return { at, begin, messages: () => streamSearchMessages(reading, position) }
  })
  return { action, at, first: undefined, head: undefined, id: begin && formatLastRow(begin), messages }
}

type Opened = Pick<Feed, 'at' | 'messages'> & { readonly begin: LastRow | undefined }

const streamAlone = async function* (message: Message): AsyncGenerator<Message, void, void> {
  yield message
}

async function openSearchListing(
  reading: FeedReading,
  read: InView,
  last: LastRow | undefined,
): Promise<SearchListing> {
  const { listing } = await openSource(reading, read, last === undefined ? {} : { after: last })
  if (listing === undefined || !('search' in listing))
    throw new Failure('defect', `${reading.action.action} searches for no rows.`)
  return listing
}

/** The rows up to the published height, then those of each new height, until the outbox is over. */
const streamSearchMessages = async function* (
  reading: FeedReading,
  opened: SearchedPosition,
): AsyncGenerator<Message, void, void> {
  const { hub, outbox } = reading
  let position = opened
  let isWoken = false
  let { height } = opened.at
  const wake = (): void => {
    if (!isWoken) outbox.put({ kind: 'behind' })
    isWoken = true
  }
  wake()
  const leave = hub.watch({
    published: at => {
      height = at.height
      wake()
    },
    beat: () => outbox.beat({ kind: 'beat', height, head: undefined }),
    end: failure => outbox.end({ kind: 'end', failure }),
  })
  try {
    for await (const message of outbox.items()) {
      if (message.kind === 'behind') {
        isWoken = false
        position = yield* streamNewParts(reading, position)
      } else yield message
    }
  } finally {
    leave()
  }
}

/**
 * The rows that are found and not yet sent; returns the new progress. Each thousand rows tested count as a request, and
 * a heartbeat follows each wait for one. A failure ends the outbox, which reports it.
 */
const streamNewParts = async function* (
  reading: FeedReading,
  from: SearchedPosition,
): AsyncGenerator<Message, SearchedPosition, void> {
  let position = from
  try {
    do {
      const before = position
      const read = await readInView(reading, async now => {
        return (await findReset(now.view, before.last)) ?? (await continueSearch(reading, now, before))
      })
      if ('kind' in read) {
        reading.outbox.end(read)
        return position
      }
      position = read.next
      if (position.room < 0) {
        await reading.more()
        position = { ...position, room: position.room + ROWS_AT_ONCE }
        yield { kind: 'beat', height: position.at.height, head: undefined }
      }
      yield* read.parts
    } while (!position.rest.isOver && !reading.outbox.isOver())
  } catch (error) {
    reading.outbox.end({ kind: 'end', failure: toFailure(error) })
  }
  return position
}

async function continueSearch(
  reading: FeedReading,
  read: InView,
  before: SearchedPosition,
): Promise<{ readonly parts: readonly FeedPart[]; readonly next: SearchedPosition }> {
  const { view } = read
  const position = await readPosition(reading, read, before)
  const { found, tested, rest } = await position.rest.next(view, ROWS_AT_ONCE)
  const parts: FeedPart[] = []
  let { last } = position
  for (const rows of splitRuns(found, isLongFound)) {
    const lines = formatRowLines(await position.listing.rowsOf(view, rows), reading.call.options)
    const ids = await readRowIds(
      view,
      rows.map(({ doc }) => doc.id),
    )
    parts.push(toSearchPart(lines, ids.map(rowIdText)))
    last = ids.at(-1)
  }
  return { parts, next: { ...position, rest, last, room: position.room - tested } }
}

/**
 * The progress at the current height. Throws 'replaced' when rows that were sent were rolled back with their blocks.
 */
async function readPosition(reading: FeedReading, read: InView, position: SearchedPosition): Promise<SearchedPosition> {
  const { view } = read
  const { at, last, listing, rest, counts, room } = position
  if (!(await isOnChain(view, at))) {
    const anew = await openSearchListing(reading, read, last)
    return { listing: anew, rest: anew.search, counts: anew.counts, at: view.at, room, last }
  }
  if (!rest.isOver || at.height === view.at.height) return position
  return { listing, last, room, at: view.at, ...(await openLaterSearch(view, listing.later, counts)) }
}

const encoder = new TextEncoder()

/** Rows as events; the id of each identifies it permanently. */
const toSearchPart = (lines: readonly string[], ids: readonly string[]): FeedPart => ({
  kind: 'rows',
  bytes: encoder.encode(lines.map((line, at) => `id: ${ids[at]}\ndata: ${line}\n\n`).join('')),
  count: 0,
  id: ids.at(-1) ?? '',
})

/**
 * Opens the feed of a list: from the row after `last`, else from `start_seq`, else from the next new row.
 * Throws Failure: 'bad_request' also for a list that cannot be followed; otherwise like `answer`.
 */
export async function openFeed(deps: AnswerDeps, call: FeedCall, options: FeedOptions): Promise<Feed> {
  const { action, params } = readCall(call)
  const isSearched = action.source?.isSearched?.(params) === true
  requireFeed(action, { query: call.query, params }, isSearched)
  const reading = { deps, action, params, call, ...options }
  if (isSearched) return openSearchedFeed(reading, call.last && requireLastRow(call.last))
  const last = call.last && requireLastSeq(call.last)
  const start = last === undefined ? (params['start_seq'] as bigint | undefined) : last.seq + 1n
  const { at, count, head, trail } = await readInView(reading, async read => {
    const opened = await openList(reading, read)
    const { view } = read
    if (start !== undefined) refuseBeyondLoaded({ view, node: deps.node }, { start_seq: start }, opened.count)
    return { ...opened, trail: last?.trail ?? (await readTrail(view)) }
  })
  const first = start === undefined ? count + 1 : Math.max(1, Number(start))
  // Rows before the first one to be sent must not be replaced unnoticed: the client has them or skipped them.
  // A client that begins beyond the end of the list makes no claim about the rows before.
  const had = last !== undefined ? Number(last.seq) : first <= count + 1 ? first - 1 : 0
  const droppedFrom = params['head'] === 1 && last !== undefined ? getNextHeight(last.trail) : undefined
  // A client that reconnects before its packed rows were dropped must not claim that they are of the present chain.
  const own = droppedFrom === undefined ? trail : last?.trail
  return {
    action,
    at,
    first,
    head,
    id: first - 1 <= count ? formatFeedId(first - 1, own) : undefined,
    messages: () => streamMessages(reading, { next: first, had, trail, droppedFrom }),
  }
}

/** The list of a call at one height, or a range of it; `count`: its irreversible rows. */
async function openList(reading: FeedReading, read: InView, range: object = {}) {
  const { listing, head } = await openSource(reading, read, { start_seq: undefined, ...range })
  if (listing === undefined || 'search' in listing || listing.followed === undefined)
    throw new Failure('defect', `${reading.action.action} has no feed.`)
  const { followed, total, stored = total } = listing
  return { at: read.view.at, listing, followed, count: Math.min(stored, total), head }
}

/**
 * Readers of lists with the same name receive the same bytes, so the name contains everything that the bytes
 * of a row depend on.
 */
function createFeedList(
  { action: { module, action }, params, call: { options } }: FeedReading,
  { followed, rows }: Pick<FeedList, 'followed' | 'rows'>,
): FeedList {
  const isHead = params['head'] === 1
  const key = 'key' in followed ? followed.key : ''
  const name = `${module} ${action} ${options.compat} ${options.numbers} ${isHead} ${key}`
  return { name, followed, isHead, rows, options }
}

type Position = {
  /** The row for which it waits. */
  next: number
  /** The last row that it has. */
  had: number
  trail: Trail
  /** It may have packed rows of this block and of later ones, which are sent again; undefined: it has none. */
  droppedFrom: number | undefined
}

/** The first block of which a reader may have packed rows, given the chain of its irreversible rows. */
function getNextHeight(trail: Trail | undefined): number {
  return trail === undefined ? 0 : trail[0].height + 1
}

function advance(position: Position, { last, trail = position.trail }: FeedPart): void {
  position.trail = trail
  if (last === undefined) return
  position.next = last + 1
  position.had = last
}

/** The rows from a position on, then each new one. */
const streamMessages = async function* (reading: FeedReading, position: Position): AsyncGenerator<Message, void, void> {
  const { hub, outbox } = reading
  try {
    while (!outbox.isOver()) {
      await hub.whenIdle()
      const page = await readInView(reading, read => readPage(reading, read, position))
      if (page.kind === 'reset') return yield page
      if (page.part !== undefined) {
        yield page.part
        advance(position, page.part)
      }
      position.droppedFrom = undefined
      if (position.next > page.count) yield* streamNewMessages(reading, page, position)
    }
  } catch (error) {
    outbox.end({ kind: 'end', failure: toFailure(error) })
  }
  yield* outbox.items()
}

/**
 * The messages of the hub for a reader that has read its whole list, until the list must be read again or the
 * feed ends.
 */
const streamNewMessages = async function* (
  { hub, outbox }: FeedReading,
  page: Page,
  position: Position,
): AsyncGenerator<Message, void, void> {
  const { list } = page
  const follower = { list, outbox, next: position.next, hasPacked: false }
  if (!hub.join(follower, page)) return
  try {
    for await (const message of outbox.items()) {
      if (message.kind === 'behind') {
        if (list.isHead) position.droppedFrom = getNextHeight(position.trail)
        return
      }
      yield message
      if (message.kind === 'rows') advance(position, message)
    }
  } finally {
    hub.leave(follower)
  }
}

/** Rows from one read, and the list up to its height. */
type Page = {
  readonly kind: 'page'
  readonly part: FeedPart | undefined
  readonly list: FeedList
  readonly end: Published
  readonly count: number
}

/**
 * The next rows from `next` on, as many as one read returns, at the current height. If some of the rows up to
 * `had` were rolled back, a reset instead.
 */
async function readPage(
  reading: FeedReading,
  read: InView,
  { next, had, trail, droppedFrom }: Readonly<Position>,
): Promise<Page | Extract<FeedEnd, { kind: 'reset' }>> {
  const { view } = read
  const common = await findCommonHeight(view, trail)
  if (common < trail[0].height) {
    const { count } = common < 0 ? { count: 0 } : await openList(reading, read, { end_block: BigInt(common) })
    if (had > count) return { kind: 'reset', seq: count, id: String(count), height: Math.max(common, 0) }
  }
  const { at, listing, followed, count } = await openList(reading, read)
  if (had > count) return { kind: 'reset', seq: count, id: String(count), height: at.height }
  const list = createFeedList(reading, { followed, rows: listing.rows })
  const docs = await readFeedDocs(view, listing, { next, count })
  const lines = formatRowLines(await list.rows(view, docs), list.options)
  const isEmpty = lines.length === 0 && droppedFrom === undefined
  const part = buildFeedPart({
    next,
    lines,
    droppedFrom: droppedFrom === undefined ? undefined : Math.min(droppedFrom, common + 1),
    trail: isEmpty ? trail : await readTrail(view),
  })
  return { kind: 'page', part, list, end: at, count }
}

/** The rows from `next` on that fit in memory at once. */
async function readFeedDocs(
  view: View,
  listing: Listing,
  { next, count }: { readonly next: number; readonly count: number },
): Promise<readonly unknown[]> {
  if (next > count) return []
  const { ahead, later } = await readParts(view, listing, { offset: next - 1, total: count })
  return ahead.length > 0 ? ahead : (later[0] ?? [])
}
