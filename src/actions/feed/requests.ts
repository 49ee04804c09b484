import { type ApiAction, formatActionName, type Text } from '../define.ts'
import { actions } from '../registry.ts'
import { findSingleValue, type Query } from '../request/query.ts'
import { RANGE_NAMES } from '../request/range.ts'
import { badRequest } from '../request/refusals.ts'
import type { LastRow } from './message.ts'
import type { LastId } from './trail.ts'

/** Refuses an action whose list cannot be followed, and parameters that a feed does not accept ('bad_request'). */
export function requireFeed(
  { source, list }: ApiAction,
  { query, params }: { readonly query: Query; readonly params: object },
  isSearched: boolean,
): void {
  if (source?.isFeed !== true) throw refused('format', list === undefined ? NO_LIST : notFollowed())
  for (const name of uselessNames(isSearched))
    if (findSingleValue(query, name) !== undefined)
      throw refused(name, {
        en: `Parameter '${name}' does not go with format=sse, which returns every row from its start on and never ends; leave it out.`,
        zh: `参数 '${name}' 不能与 format=sse 同时使用：该格式从起点开始持续返回每条记录，没有终点；请去掉此参数。`,
      })
  if (findSingleValue(query, 'sort') === 'desc') throw refused('sort', DESCENDING)
  if ('step' in params) throw refused('step', STEPS)
}

/** Parameters that no feed of an action accepts. */
export function neverOfFeed({ source }: Pick<ApiAction, 'source'>): readonly string[] {
  const names = uselessNames(false)
  return [
    ...(source?.isSearched === undefined ? names : names.filter(name => uselessNames(true).includes(name))),
    ...['sort', 'step', 'csv'],
  ]
}

/** Parameters of pages and ranges that a feed does not accept. */
function uselessNames(isSearched: boolean): readonly string[] {
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
  throw refused('Last-Event-ID', OF_ROW)
}
export function requireLastSeq(last: LastId | LastRow): LastId {
  if ('seq' in last) return last
  throw refused('Last-Event-ID', OF_LIST)
}

const OF_ROW: Text = {
  en: 'Last-Event-ID is a number, but the rows of this feed are searched for; it must be the id of an event of the same feed.',
  zh: 'Last-Event-ID 是序号，而此事件流的记录需要逐条查找；应为同一事件流中某个事件的 id。',
}
const OF_LIST: Text = {
  en: 'Last-Event-ID is the id of a row that was searched for, but the rows of this feed have a seq; it must be the id of an event of the same feed.',
  zh: 'Last-Event-ID 是逐条查找到的记录的 id，而此事件流的记录带有 seq；应为同一事件流中某个事件的 id。',
}

const refused = (parameter: string, why: Text) => badRequest(why, { parameter })

const FOLLOWED_ONLY: Text = {
  en: "Parameter 'format' is 'sse', which is for lists that can be followed",
  zh: "参数 'format' 的值 'sse' 仅适用于可持续跟踪的列表",
}

function notFollowed(): Text {
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
