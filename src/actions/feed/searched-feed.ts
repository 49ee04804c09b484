import { Failure, toFailure } from '#failure/failure.ts'
import type { Published } from '#store/port.ts'
import { isOnChain } from '../find/blocks-at.ts'
import { ROWS_AT_ONCE } from '../list/list-rows.ts'
import { readRowIds, rowIdText } from '../list/row-id.ts'
import { formatRowLines } from '../list/rows.ts'
import { inParts, openLaterSearch } from '../list/search.ts'
import type { RowSearch, SearchListing } from '../list/searched.ts'
import { type Feed, type FeedReading, type InView, inView, openSource } from './feed.ts'
import { endOfBlock, findReset, type LastRow, lastRowText } from './last-row.ts'
import type { FeedPart, Message } from './message.ts'
import { SEARCHED_STARTS } from './requests.ts'

/** The progress of a searched feed. */
type Position = {
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
export async function openSearchedFeed(reading: FeedReading, last: LastRow | undefined): Promise<Feed> {
  const { params, action } = reading
  const isBegun = last !== undefined || SEARCHED_STARTS.some(name => params[name] !== undefined)
  const { at, begin, messages } = await inView(reading, async (read): Promise<Opened> => {
    const { at } = read.view
    const begin = isBegun ? last : await endOfBlock(read.view, at)
    const reset = await findReset(read.view, begin)
    if (reset !== undefined) return { at, begin, messages: () => alone(reset) }
    const listing = await openSearchListing(reading, read, begin)
    const position = { listing, rest: listing.search, at, counts: listing.counts, room: ROWS_AT_ONCE, last: begin }
    return { at, begin, messages: () => streamSearchMessages(reading, position) }
  })
  return { action, at, first: undefined, head: undefined, id: begin && lastRowText(begin), messages }
}

type Opened = Pick<Feed, 'at' | 'messages'> & { readonly begin: LastRow | undefined }

const alone = async function* (message: Message): AsyncGenerator<Message, void, void> {
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
  opened: Position,
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
        position = yield* newParts(reading, position)
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
const newParts = async function* (reading: FeedReading, from: Position): AsyncGenerator<Message, Position, void> {
  let position = from
  try {
    do {
      const before = position
      const read = await inView(reading, async now => {
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

/** Continues the search at the current height. */
async function continueSearch(
  reading: FeedReading,
  read: InView,
  before: Position,
): Promise<{ readonly parts: readonly FeedPart[]; readonly next: Position }> {
  const { view } = read
  const position = await positionNow(reading, read, before)
  const { found, tested, rest } = await position.rest.next(view, ROWS_AT_ONCE)
  const parts: FeedPart[] = []
  let { last } = position
  for (const rows of inParts(found)) {
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
async function positionNow(reading: FeedReading, read: InView, position: Position): Promise<Position> {
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
