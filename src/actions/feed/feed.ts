import type { Published, View } from '#store/port.ts'
import { type AnswerDeps, type Call, contextFor, inTurn, type Turn } from '../answer.ts'
import type { Action, Apart } from '../define.ts'
import type { LastId } from './head-position.ts'
import type { FeedHub } from './hub.ts'
import type { LastRow } from './last-row.ts'
import type { HeadNow, Message } from './message.ts'
import type { Outbox } from './outbox.ts'

/** The rows of a list from one on, as they come. */
export type Feed = {
  readonly action: Action
  /** The height at which it was opened. */
  readonly at: Published
  /** The `seq` that the first row is to have, unless it was taken back; undefined: rows have none. */
  readonly first: number | undefined
  /** The id with which a client goes on that has got nothing yet; undefined: the list has not come so far. */
  readonly id: string | undefined
  /** The blocks above then; undefined: they are not asked for. */
  readonly head: HeadNow | undefined
  /** Ends with a `FeedEnd`, unless the outbox is closed before. */
  messages(): AsyncGenerator<Message, void, void>
}

export type FeedCall = Call & {
  /** The last event that the client has, when it comes again. */
  readonly last: LastId | LastRow | undefined
}

export type FeedOptions = {
  /** Ends all reading. */
  readonly signal: AbortSignal
  readonly turn: Turn
  readonly hub: FeedHub
  readonly outbox: Outbox<Message>
}

export type Reading = FeedOptions & {
  readonly deps: AnswerDeps
  readonly action: Action
  readonly params: Readonly<Record<string, unknown>>
  readonly call: FeedCall
}

/** What a read of a feed has: the store at one height, and the way to ask a node. */
export type InView = { readonly view: View; readonly apart: Apart }

/** Reads the store at one height, in a turn of the reader. */
export const inView = <T>({ deps, turn, signal }: Reading, work: (read: InView) => Promise<T>): Promise<T> =>
  inTurn(turn, ({ apart }) => deps.store.read(view => work({ view, apart }), { signal }))

/** The list of a call at one height, oldest row first, with some of its parameters replaced; and the blocks above then. */
export const openSource = async (
  { deps, action, params, call, signal }: Reading,
  { view, apart }: InView,
  replaced: object,
) => {
  const context = contextFor(deps, { view, params, compat: call.options.compat, signal, apart })
  const listing = await action.source?.open(context, { ...params, sort: 'asc', ...replaced })
  return { listing, head: context.head }
}
