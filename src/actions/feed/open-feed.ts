import { Failure, toFailure } from '#failure/failure.ts'
import type { Published, View } from '#store/port.ts'
import { type AnswerDeps, readCall } from '../answer.ts'
import { isOnChain } from '../find/blocks-at.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import type { Listing } from '../list/list-rows.ts'
import { readParts } from '../list/read-parts.ts'
import { blockHashes, getPositionHeight } from '../list/row-id.ts'
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
import type { FeedList } from './feed-list.ts'
import { checkPosition } from './follow-branch.ts'
import { formatFeedId, type HeadPosition, trimHeadPosition } from './head-position.ts'
import { findHighestStored, type Trail } from './landmarks.ts'
import { buildFeedPart, type FeedEnd, type FeedPart, type Message } from './message.ts'
import { requireFeed, requireLastRow, requireLastSeq } from './requests.ts'
import { openSearchedFeed } from './searched-feed.ts'
import { trailText } from './trail-text.ts'

/**
 * Opens the feed of a list: from the row after `last`, else from `start_seq`, else from the next new row.
 * Throws Failure: 'bad_request' also for a list that cannot be followed; otherwise like `answer`.
 */
export async function openFeed(deps: AnswerDeps, call: FeedCall, options: FeedOptions): Promise<Feed> {
  const { action, params } = readCall(call)
  const isSearched = action.source?.isSearched?.(params) === true
  requireFeed(action, { query: call.query, params }, isSearched)
  const reading = { deps, action, params, call, ...options }
  const landmarks = options.hub.landmarks()
  if (isSearched) return openSearchedFeed(reading, call.last && requireLastRow(call.last))
  const last = call.last && requireLastSeq(call.last)
  const start = last === undefined ? (params['start_seq'] as bigint | undefined) : last.seq + 1n
  const { at, count, head, trail } = await inView(reading, async read => {
    const opened = await openList(reading, read)
    const { view } = read
    if (start !== undefined) refuseBeyondLoaded({ view, node: deps.node }, { start_seq: start }, opened.count)
    return { ...opened, trail: last?.trail?.text ?? (await trailText(view)) }
  })
  const first = start === undefined ? count + 1 : Math.max(1, Number(start))
  const place = params['head'] === 1 ? last?.place : undefined
  // Rows before the first one to be sent must not be replaced unnoticed: the client has them or skipped them.
  // A client that begins beyond the end of the list makes no claim about the rows before.
  const had = last !== undefined ? Number(last.seq) : first <= count + 1 ? first - 1 : 0
  return {
    ...{ action, at, first, head },
    id: first - 1 <= count ? formatFeedId(first - 1, place, trail) : undefined,
    messages: () => streamMessages(reading, last?.trail ?? { at, landmarks }, { next: first, had, place }),
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

/**
 * The progress of a client: it waits for row `next`, has the rows up to `had`, and `place` is its position in
 * the head blocks.
 */
type Position = { next: number; had: number; place: HeadPosition | undefined }

function advance(position: Position, { last, place }: FeedPart): void {
  position.place = place
  if (last === undefined) return
  position.next = last + 1
  position.had = last
}

/**
 * The rows from a position on, then each new one. `opened`: trail of the rows that the reader had when the
 * feed was opened.
 */
const streamMessages = async function* (
  reading: FeedReading,
  opened: Trail,
  position: Position,
): AsyncGenerator<Message, void, void> {
  const { hub, outbox } = reading
  try {
    for (let trail = opened; !outbox.isOver(); ) {
      await hub.whenIdle()
      const landmarks = hub.landmarks()
      const asked = { trail, position }
      const page = await inView(reading, read => readPage(reading, read, asked))
      if (page.kind === 'reset') return yield page
      trail = { at: page.end, landmarks }
      if (page.part !== undefined) {
        yield page.part
        advance(position, page.part)
      }
      if (position.next > page.count) trail = yield* newMessages(reading, { page, trail }, position)
    }
  } catch (error) {
    outbox.end({ kind: 'end', failure: toFailure(error) })
  }
  yield* outbox.items()
}

/**
 * The messages of the hub for a reader that has read its whole list, until the list must be read again or the
 * feed ends. Returns the trail of all rows that the reader has. `trail`: that of the page.
 */
const newMessages = async function* (
  { hub, outbox }: FeedReading,
  { page, trail }: { readonly page: Page; readonly trail: Trail },
  position: Position,
): AsyncGenerator<Message, Trail, void> {
  const follower = { list: page.list, outbox, next: position.next, place: page.place }
  if (!hub.join(follower, page)) return trail
  try {
    for await (const message of outbox.items()) {
      if (message.kind === 'behind')
        return message.trail !== undefined && message.trail.at.height >= trail.at.height ? message.trail : trail
      yield message
      if (message.kind === 'rows') advance(position, message)
    }
  } finally {
    hub.leave(follower)
  }
  return trail
}

/** Rows from one read, and the reader's state after them. */
type Page = {
  readonly kind: 'page'
  readonly part: FeedPart | undefined
  readonly list: FeedList
  readonly end: Published
  readonly count: number
  readonly place: HeadPosition | undefined
}

/** `trail`: that of the rows before. */
type FeedPosition = { readonly trail: Trail; readonly position: Position }

/**
 * The next rows from `next` on, as many as one read returns, at the current height. If some of the rows up to
 * `had` were rolled back, a reset instead.
 */
async function readPage(
  reading: FeedReading,
  read: InView,
  { trail: before, position: { next, had, place } }: FeedPosition,
): Promise<Page | Extract<FeedEnd, { kind: 'reset' }>> {
  const { view } = read
  if (!(await isOnChain(view, before.at))) {
    const height = await findHighestStored(view, before.landmarks)
    const range = { end_block: BigInt(height) }
    const { count } = height < 0 ? { count: 0 } : await openList(reading, read, range)
    if (had > count) return { kind: 'reset', seq: count, id: String(count), height: Math.max(height, 0) }
  }
  const { at, listing, followed, count } = await openList(reading, read)
  if (had > count) return { kind: 'reset', seq: count, id: String(count), height: at.height }
  const list = createFeedList(reading, { followed, rows: listing.rows })
  const docs = await readFeedDocs(view, listing, { next, count })
  const lines = formatRowLines(await list.rows(view, docs), list.options)
  const heights = docs.map(doc => getPositionHeight(listing.idOf?.(doc) ?? ''))
  const stored = await storedRows(view, place, heights)
  const trail = docs.length === 0 && stored.droppedFrom === undefined ? '' : await trailText(view)
  const part = buildFeedPart({ next, place, lines, trail }, { ...stored, packed: [], place: stored.kept })
  // The last of these rows includes the rows of the position as irreversible ones.
  return { kind: 'page', part, list, end: at, count, place: trimHeadPosition(stored.kept, at.height) }
}

/** The part of a position that the store alone confirms, before irreversible rows of blocks at `heights` are sent. */
async function storedRows(view: View, place: HeadPosition | undefined, heights: readonly number[]) {
  if (place === undefined) return { droppedFrom: undefined, kept: undefined }
  const { height } = view.at
  const named = [...place.below, place].map(block => block.height)
  const hashes = await blockHashes(
    view,
    named.filter(each => each <= height),
  )
  return checkPosition(place, heights, { height, storedHash: at => hashes.get(at), now: undefined })
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
