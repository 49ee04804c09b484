import { Failure } from '#failure/failure.ts'
import { recordId, TX_PLACES } from '#indices/position.ts'
import type { Published, View } from '#store/port.ts'
import { contextFor, inTurn } from '../answer.ts'
import type { Action, Apart } from '../define.ts'
import { ROWS_AT_ONCE } from '../list/list-rows.ts'
import { type RowId, rowIdsOf, rowIdText } from '../list/row-id.ts'
import { linesOf } from '../list/rows.ts'
import { inParts, searchBehind } from '../list/search.ts'
import type { Search, Searched } from '../list/searched.ts'
import type { Feed, Reading } from './feed.ts'
import { isOn } from './landmarks.ts'
import type { Message, Part } from './message.ts'

/** How far a feed of rows that are searched for is. */
type Position = {
  readonly listing: Searched
  /** What is still to be looked at of the rows up to a height. */
  readonly rest: Search
  readonly at: Published
  /** Rows of each list at that height. */
  readonly counts: readonly number[]
  /** The last row that was handed out, or where the reader began; undefined: with the range that it asked for. */
  readonly last: RowId | undefined
}

/**
 * The feed of rows that are searched for: those behind a row, else those of a range that has a start, else the ones that
 * come. Each new height is read for this feed alone. Throws 'replaced' when the block of that row is another one by now.
 */
export const openSearchedFeed = async (reading: Reading, last: RowId | undefined): Promise<Feed> => {
  const { params, action } = reading
  const isBegun = last !== undefined || STARTS.some(name => params[name] !== undefined)
  const position = await inView(reading, async (view, apart): Promise<Position> => {
    const { at } = view
    const begin = isBegun ? last : endOf(at)
    const listing = await openFrom(reading, { view, apart }, begin)
    return { listing, rest: listing.search, at, counts: listing.counts, last: begin }
  })
  const id = position.last && rowIdText(position.last)
  return {
    action,
    at: position.at,
    first: undefined,
    head: undefined,
    id,
    messages: () => messagesOf(reading, position),
  }
}

const STARTS = ['after', 'start_block', 'start_time', 'start_date']

/** Behind all rows of a block. */
const endOf = ({ height, hash }: Published): RowId => ({
  position: recordId(height, TX_PLACES - 1, TX_PLACES - 1),
  hash,
})

type InView = { readonly view: View; readonly apart: Apart }

const openFrom = async (
  { deps, action, params, call, signal }: Reading,
  { view, apart }: InView,
  last: RowId | undefined,
): Promise<Searched> => {
  const context = contextFor(deps, { view, params, compat: call.options.compat, signal, apart })
  const asked = { ...params, sort: 'asc', ...(last === undefined ? {} : { after: last }) }
  const listing = await (action as Action).source?.open(context, asked)
  if (listing === undefined || !('search' in listing))
    throw new Failure('defect', `${action.action} searches for no rows.`)
  return listing
}

const inView = <T>(
  { deps, turn, signal }: Reading,
  work: (view: View, apart: Apart) => Promise<T>,
): Promise<T> => inTurn(turn, ({ apart }) => deps.store.read(view => work(view, apart), { signal }))

/** The rows up to the published height, then those of each new one, until the outbox is over. */
const messagesOf = async function* (reading: Reading, opened: Position): AsyncGenerator<Message, void, void> {
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

/** What is there and was not handed out, and how far that is. A failure ends the outbox, which says so. */
const newParts = async function* (reading: Reading, from: Position): AsyncGenerator<Part, Position, void> {
  let position = from
  try {
    do {
      const before = position
      const { parts, next } = await inView(reading, (view, apart) => readOn(reading, { view, apart }, before))
      position = next
      yield* parts
    } while (!position.rest.isOver && !reading.outbox.isOver())
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure('defect', String(error), { cause: error })
    reading.outbox.end({ kind: 'end', failure })
  }
  return position
}

/** Looks at some rows, at the height of now. */
const readOn = async (
  reading: Reading,
  inView: InView,
  before: Position,
): Promise<{ readonly parts: readonly Part[]; readonly next: Position }> => {
  const { view } = inView
  const position = await positionNow(reading, inView, before)
  const { found, rest } = await position.rest.look(view, ROWS_AT_ONCE)
  const parts: Part[] = []
  let { last } = position
  for (const rows of inParts(found)) {
    const lines = linesOf(await position.listing.rowsOf(view, rows), reading.call.options)
    const ids = await rowIdsOf(
      view,
      rows.map(({ doc }) => doc.id),
    )
    parts.push(partOf(lines, ids.map(rowIdText)))
    last = ids.at(-1)
  }
  return { parts, next: { ...position, rest, last } }
}

/** A position as the height of now has it. Throws 'replaced' when blocks were taken back with rows that were handed out. */
const positionNow = async (reading: Reading, inView: InView, position: Position): Promise<Position> => {
  const { view } = inView
  const { at, last, listing, counts, rest } = position
  if (!(await isOn(view, at))) {
    const anew = await openFrom(reading, inView, last)
    return { listing: anew, rest: anew.search, counts: anew.counts, at: view.at, last }
  }
  if (!rest.isOver || at.height === view.at.height) return position
  return { listing, last, at: view.at, ...(await searchBehind(view, listing.later, counts)) }
}

const encoder = new TextEncoder()

/** Rows as events; the id of each names it for ever. */
const partOf = (lines: readonly string[], ids: readonly string[]): Part => ({
  kind: 'rows',
  bytes: encoder.encode(lines.map((line, at) => `id: ${ids[at]}\ndata: ${line}\n\n`).join('')),
  count: lines.length,
  place: undefined,
  id: ids.at(-1) ?? '',
})
