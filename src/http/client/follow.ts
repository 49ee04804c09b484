import { linesOf, pause } from './lines.ts'
import {
  type Args,
  type Ask,
  type CallOptions,
  IostlensError,
  type NumberedList,
  numberedList,
  type Paged,
  type Params,
  type RowsOf,
  type Seq,
} from './runtime.ts'

/**
 * A list that can be followed: new rows arrive as they are made, from `start_seq` on, else from now on, over
 * any number of connections.
 */
export type FollowedList<P, D, R> = NumberedList<P, D, R> & {
  readonly follow: (...args: Args<Omit<P, 'page' | 'size' | 'sort' | 'head' | 'step'>>) => AsyncGenerator<R & Seq, void>
  /** Like `follow`, with the rows of blocks that may still be replaced. */
  readonly followHead: (
    ...args: Args<Omit<P, 'page' | 'size' | 'sort' | 'head' | 'step'>>
  ) => AsyncGenerator<HeadEvent<R>, void>
}

/** An event of `followHead`. */
export type HeadEvent<R> =
  /** A row of a block that may still be replaced, in chain order. */
  | { readonly event: 'packed'; readonly row: R & Id }
  /**
   * The packed rows of this block and of all later blocks are no longer valid. After a reconnection, those that are still
   * valid are sent again.
   */
  | { readonly event: 'dropped'; readonly from_block: string }
  /**
   * A final row. The packed row that it confirms has the same `id`: it is the oldest remaining one, if there is one.
   */
  | { readonly event: 'irreversible'; readonly row: R & Seq & Id }

/** Identifies a row and its block, before and after the block is irreversible. */
export type Id = { readonly id: string }

/** The longest pause before a feed is reopened, in seconds. */
const LONGEST_PAUSE = 30

/** The pause after the service has ended a connection, in seconds. */
const AFTER_END = 0.5

/** The same after a connection without events: it is not this client's turn yet. Each client waits another time. */
const untilTurn = () => 1 + 2 * Math.random()

/**
 * An event of a feed: its name, and its id. The id consists of the `seq` of the last irreversible row and a
 * mark of the chain (`place`). For searched rows, it is the id of the row.
 */
type FeedEvent = {
  readonly name: string
  readonly id: string
  readonly seq: number
  readonly place: string
  readonly text: string
}

/** The reading position of a feed: its last irreversible row, with its text; no text: the beginning of the feed. */
type Last = Omit<FeedEvent, 'name'>

/**
 * The events of a list from `start_seq` on, without end. A connection that ends is reopened after the last event. The
 * last irreversible row must arrive again unchanged; otherwise blocks were rolled back, and an error is thrown.
 */
const feedOf = async function* (
  ask: Ask,
  request: { readonly path: string; readonly params: Params },
  options: CallOptions,
): AsyncGenerator<FeedEvent, void> {
  let last: Last | undefined
  for (let failures = 0; ; failures += 1) {
    try {
      const response = await ask({ ...request, headers: idBefore(last), read: async each => each }, options)
      let isServed = false
      for await (const event of eventsAfter(last, response)) {
        isServed = true
        failures = 0
        last = lastWith(event, last)
        if (event.text !== '') yield event
      }
      await pause(isServed ? AFTER_END : untilTurn(), options.signal)
    } catch (failure) {
      options.signal?.throwIfAborted()
      await pause(pauseAfter(failure, failures), options.signal)
    }
  }
}

/** The reading position after one more event. A later id without data is a more precise position after the last row. */
const lastWith = (event: FeedEvent, last: Last | undefined): Last | undefined => {
  if (event.name === '' && (event.text !== '' || event.seq !== last?.seq)) return event
  return last && { ...last, id: event.id, place: event.place }
}

const following = <R extends Seq>(ask: Ask, path: string) =>
  async function* (params: Params = {}, options: CallOptions = {}): AsyncGenerator<R, void> {
    const request = { path, params: { ...params, format: 'sse', head: undefined } }
    for await (const { text } of feedOf(ask, request, options)) yield JSON.parse(text) as R
  }

const followingHead = <R>(ask: Ask, path: string) =>
  async function* (params: Params = {}, options: CallOptions = {}): AsyncGenerator<HeadEvent<R>, void> {
    const request = { path, params: { ...params, format: 'sse', head: 1 } }
    for await (const { name, text } of feedOf(ask, request, options)) {
      const data = JSON.parse(text)
      if (name === '') yield { event: 'irreversible', row: data }
      else if (name === 'packed') yield { event: 'packed', row: data }
      else yield { event: 'dropped', from_block: data.from_block }
    }
  }

/** The header with which the next connection begins: the last row is sent again, if there was one. */
const idBefore = (last: Last | undefined): Readonly<Record<string, string>> => {
  if (last === undefined) return {}
  const { id, seq, place, text } = last
  if (isSearched(id)) return { 'Last-Event-ID': id }
  return { 'Last-Event-ID': `${text === '' ? seq : seq - 1}${place}` }
}

/**
 * Whether an id identifies a row and its block. For such ids the service itself checks whether the block still exists.
 */
const isSearched = (id: string): boolean => /^\d{12}-/.test(id)

/** Seconds until a feed is reopened. Throws the failure when a retry is useless. */
const pauseAfter = (failure: unknown, failures: number): number => {
  if (!(failure instanceof IostlensError)) return Math.min(LONGEST_PAUSE, 2 ** failures / 2)
  if (failure.retryAfter === undefined) throw failure
  return failure.retryAfter
}

/** The events of one connection after the last row, which must arrive again first. */
const eventsAfter = async function* (last: Last | undefined, response: Response): AsyncGenerator<FeedEvent, void> {
  let isKnown = last === undefined || last.text === '' || isSearched(last.id)
  for await (const event of eventsOf(response)) {
    if (isKnown || event.name !== '') yield event
    else if (event.text === '') continue
    else if (event.seq !== last?.seq || event.text !== last.text) throw takenBack(response, event.seq)
    else isKnown = true
  }
}

/** The row events of one connection, until it ends. */
const eventsOf = async function* (response: Response): AsyncGenerator<FeedEvent, void> {
  let id: string | undefined
  let name = ''
  let text = ''
  for await (const line of linesOf(response.body)) {
    if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('event: ')) name = line.slice(7)
    else if (line.startsWith('data: ')) text = line.slice(6)
    if (line !== '') continue
    const seq = Number.parseInt(id ?? '', 10)
    if (name === 'reset') throw takenBack(response, seq)
    if (id !== undefined && NAMES.includes(name)) yield eventOf({ name, id, seq, text })
    id = undefined
    name = ''
    text = ''
  }
}

const NAMES = ['', 'packed', 'dropped', 'begin']

/** The data of the beginning is left out: its id is the position before the first row. */
const eventOf = (event: Omit<FeedEvent, 'place'>): FeedEvent => {
  const place = event.id.slice(String(event.seq).length)
  return event.name === 'begin' ? { ...event, place, name: '', text: '' } : { ...event, place }
}

const takenBack = ({ status, headers }: Response, seq: number): IostlensError =>
  new IostlensError(`Blocks were taken back by a repair: rows from about seq ${seq} on have changed.`, {
    status,
    code: 0,
    requestId: headers.get('x-request-id') ?? '',
    retryAfter: undefined,
  })

const followedList = <D extends Paged, R extends object>(ask: Ask, path: string, rows: RowsOf<D, R>) =>
  Object.assign(numberedList(ask, path, rows), {
    follow: following<R & Seq>(ask, path),
    followHead: followingHead<R>(ask, path),
  })

// Only the client below uses these.
export { followedList }
