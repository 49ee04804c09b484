import { Failure, toFailure } from '#failure/failure.ts'
import type { Published, View } from '#store/port.ts'
import { type AnswerDeps, readCall } from '../answer.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import type { Listing } from '../list/list-rows.ts'
import { readParts } from '../list/read-parts.ts'
import { formatRowLines } from '../list/rows.ts'
import {
  type Feed,
  type FeedCall,
  type FeedOptions,
  type FeedReading,
  type InView,
  inView,
  openSource,
} from './feed.ts'
import { buildFeedPart, type FeedEnd, type FeedPart, type Message } from './message.ts'
import type { FeedList } from './new-rows.ts'
import { requireFeed, requireLastRow, requireLastSeq } from './requests.ts'
import { openSearchedFeed } from './searched-feed.ts'
import { findCommonHeight, formatFeedId, readTrail, type Trail } from './trail.ts'

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
  const { at, count, head, trail } = await inView(reading, async read => {
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
    ...{ action, at, first, head },
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

/** The progress of a client. */
type Position = {
  /** The row for which it waits. */
  next: number
  /** The last row that it has. */
  had: number
  /** The chain of these rows. */
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
      const page = await inView(reading, read => readPage(reading, read, position))
      if (page.kind === 'reset') return yield page
      if (page.part !== undefined) {
        yield page.part
        advance(position, page.part)
      }
      position.droppedFrom = undefined
      if (position.next > page.count) yield* newMessages(reading, page, position)
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
const newMessages = async function* (
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
