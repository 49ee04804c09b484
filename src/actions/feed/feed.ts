import type { Published, View } from '#store/port.ts'
import { type AcquirePermit, type AnswerDeps, type ApiCall, createContext, holdPermit } from '../answer.ts'
import type { ApiAction, NodeWait } from '../define.ts'
import type { FeedHub } from './hub.ts'
import type { HeadNow, LastRow, Message } from './message.ts'
import type { Outbox } from './outbox.ts'
import type { LastId } from './trail.ts'

/** A live feed of a list's rows from a given row on. */
export type Feed = {
  readonly action: ApiAction
  /** The height at which the feed was opened. */
  readonly at: Published
  /** The `seq` of the first row, unless that row is rolled back; undefined: rows have no number. */
  readonly first: number | undefined
  /**
   * The id from which a client can resume before it has received any event; undefined: the list does not
   * extend that far.
   */
  readonly id: string | undefined
  /** The head blocks at that moment; undefined: the call does not ask for them. */
  readonly head: HeadNow | undefined
  /** Ends with a `FeedEnd`, unless the outbox is closed before. */
  messages(): AsyncGenerator<Message, void, void>
}

export type FeedCall = ApiCall & {
  /** The last event that a reconnecting client received. */
  readonly last: LastId | LastRow | undefined
}

export type FeedOptions = {
  /** Aborts all reading. */
  readonly signal: AbortSignal
  readonly acquire: AcquirePermit
  /** Counts one more request, for each thousand rows that a search has begun to test after the first. */
  readonly more: () => Promise<void>
  readonly hub: FeedHub
  readonly outbox: Outbox<Message>
}

export type FeedReading = FeedOptions & {
  readonly deps: AnswerDeps
  readonly action: ApiAction
  readonly params: Readonly<Record<string, unknown>>
  readonly call: FeedCall
}

/** Resources of one read of a feed: the store at one height, and the queue for asking a node. */
export type InView = { readonly view: View; readonly waitForNode: NodeWait }

/** Reads the store at one height, with a permit of the reader. */
export const inView = <T>({ deps, acquire, signal }: FeedReading, work: (read: InView) => Promise<T>): Promise<T> =>
  holdPermit(acquire, ({ waitForNode }) => deps.store.read(view => work({ view, waitForNode }), { signal }))

/**
 * The list of a call at one height, oldest row first, with some of the parameters replaced; and the head
 * blocks at that moment.
 */
export async function openSource(
  { deps, action, params, call, signal }: FeedReading,
  { view, waitForNode }: InView,
  replaced: object,
) {
  const context = createContext(deps, { view, params, compat: call.options.compat, signal, waitForNode })
  const listing = await action.source?.open(context, { ...params, sort: 'asc', ...replaced })
  return { listing, head: context.head }
}
