import type { Published, View } from '#store/port.ts'
import { type AcquirePermit, type AnswerDeps, type ApiCall, createContext, holdPermit } from '../answer.ts'
import { type ApiAction, formatActionName, type NodeWait, type Text } from '../define.ts'
import { actions } from '../registry.ts'
import { findSingleValue, type Query } from '../request/query.ts'
import { RANGE_NAMES } from '../request/range.ts'
import { badRequest } from '../request/refusals.ts'
import type { FeedHub } from './hub.ts'
import type { HeadNow, LastId, LastRow, Message } from './message.ts'
import type { Outbox } from './outbox.ts'

/** Refuses an action whose list cannot be followed, and parameters that a feed does not accept ('bad_request'). */
export function requireFeed(
  { source, list }: ApiAction,
  { query, params }: { readonly query: Query; readonly params: object },
  isSearched: boolean,
): void {
  if (source?.isFeed !== true) throw createFeedRefusal('format', list === undefined ? NO_LIST : describeNotFollowed())
  for (const name of listUselessNames(isSearched))
    if (findSingleValue(query, name) !== undefined)
      throw createFeedRefusal(name, {
        en: `Parameter '${name}' does not go with format=sse, which returns every row from its start on and never ends; leave it out.`,
        zh: `参数 '${name}' 不能与 format=sse 同时使用：该格式从起点开始持续返回每条记录，没有终点；请去掉此参数。`,
      })
  if (findSingleValue(query, 'sort') === 'desc') throw createFeedRefusal('sort', DESCENDING)
  if ('step' in params) throw createFeedRefusal('step', STEPS)
}

export function listParametersRefusedByFeeds({ source }: Pick<ApiAction, 'source'>): readonly string[] {
  const names = listUselessNames(false)
  return [
    ...(source?.isSearched === undefined ? names : names.filter(name => listUselessNames(true).includes(name))),
    ...['sort', 'step', 'csv'],
  ]
}

/** Parameters of pages and ranges that a feed does not accept. */
function listUselessNames(isSearched: boolean): readonly string[] {
  const starts = isSearched ? SEARCHED_STARTS : ['start_seq']
  return ['page', 'size', 'after', ...RANGE_NAMES].filter(name => !starts.includes(name))
}

/** Start parameters of a searched feed, whose rows have no number. */
export const SEARCHED_STARTS: readonly string[] = ['after', 'start_block', 'start_time', 'start_date']

/**
 * The last event of a reader of a searched list (`requireLastRow`), or of a list with numbered rows (`requireLastSeq`).
 * Throws 'bad_request'.
 */
export function requireLastRow(last: LastId | LastRow): LastRow {
  if ('position' in last) return last
  throw createFeedRefusal('Last-Event-ID', OF_ROW)
}
export function requireLastSeq(last: LastId | LastRow): LastId {
  if ('seq' in last) return last
  throw createFeedRefusal('Last-Event-ID', OF_LIST)
}

const OF_ROW: Text = {
  en: 'Last-Event-ID is a number, but the rows of this feed are searched for; it must be the id of an event of the same feed.',
  zh: 'Last-Event-ID 是序号，而此事件流的记录需要逐条查找；应为同一事件流中某个事件的 id。',
}
const OF_LIST: Text = {
  en: 'Last-Event-ID is the id of a row that was searched for, but the rows of this feed have a seq; it must be the id of an event of the same feed.',
  zh: 'Last-Event-ID 是逐条查找到的记录的 id，而此事件流的记录带有 seq；应为同一事件流中某个事件的 id。',
}

const createFeedRefusal = (parameter: string, why: Text) => badRequest(why, { parameter })

const FOLLOWED_ONLY: Text = {
  en: "Parameter 'format' is 'sse', which is for lists that can be followed",
  zh: "参数 'format' 的值 'sse' 仅适用于可持续跟踪的列表",
}

function describeNotFollowed(): Text {
  const names = actions.filter(({ source }) => source?.isFeed === true).map(formatActionName)
  return {
    en: `${FOLLOWED_ONLY.en}: ${names.join(', ')}. For all rows of this list use ndjson or csv.`,
    zh: `${FOLLOWED_ONLY.zh}：${names.join('、')}。如需此列表的全部记录，请使用 ndjson 或 csv。`,
  }
}

const NO_LIST: Text = {
  en: `${FOLLOWED_ONLY.en}; use envelope or bare.`,
  zh: `${FOLLOWED_ONLY.zh}；请使用 envelope 或 bare。`,
}

const DESCENDING: Text = {
  en: "Parameter 'sort' is 'desc', but format=sse returns rows in chain order; use asc, or leave it out.",
  zh: "参数 'sort' 的值为 'desc'，而 format=sse 按链上顺序返回记录；请使用 asc 或去掉此参数。",
}

const STEPS: Text = {
  en: "Parameter 'step' does not go with format=sse, which returns each change as a row; leave it out.",
  zh: "参数 'step' 不能与 format=sse 同时使用：该格式逐条返回变动；请去掉此参数。",
}

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
export const readInView = <T>({ deps, acquire, signal }: FeedReading, work: (read: InView) => Promise<T>): Promise<T> =>
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
