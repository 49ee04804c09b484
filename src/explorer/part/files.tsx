/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/define.ts'
import { formatDate, parseDay, toDay } from '#chain/time.ts'
import { type BoundedCache, boundedCache } from '#store/bounded-cache.ts'
import { type Download, MAX_ROWS } from '../download/file.ts'
import { formatGrouped } from '../format/amount.ts'
import { getRecentPeriod } from '../format/period.ts'
import { toHref } from '../links.ts'
import type { Site, Visit } from '../page.ts'

type FilesProps = {
  readonly visit: Visit
  readonly file: Download
  /** The canonical name of the file's subject; absent: the path contains it. */
  readonly id?: string
  /** Number of rows that match the address; null: unknown. */
  readonly total: number | null
  /** Whether the page shows any of these rows. */
  readonly hasRows?: boolean
}

/**
 * Links to the list of a page as files that work: the current selection, and, for a list with a range of time, the
 * common periods with the same filters. Empty for an empty list.
 */
export async function Files({ visit, file, id = '', total, hasRows = total !== 0 }: FilesProps): Promise<string> {
  if (!hasRows) return ''
  const { say } = visit
  const to = (query: URLSearchParams): string => {
    const text = query.toString()
    return toHref(visit, `${file.path.replace('{id}', encodeURIComponent(id))}${text === '' ? '' : `?${text}`}`)
  }
  const of = { file, id }
  const isWhole = total === null ? await isSearchWithinFile(visit, of) : isWithinFile(total)
  const periods = total === null ? [] : await findWorkingPeriods(visit, of)
  return (
    <p class="files">
      <span safe>{say({ en: 'Download as CSV:', zh: '下载 CSV：' })}</span>{' '}
      {isWhole ? (
        <a href={to(narrowQuery(visit, file))} rel="nofollow" safe>
          {say(describeShownRows(total))}
        </a>
      ) : (
        <span safe>
          {say(
            total === null
              ? describeUncounted()
              : describeBeyond(total, periods.length > 0 || file.narrowedBy.includes('from')),
          )}
        </span>
      )}
      {periods.map(period => (
        <>
          {' '}
          <a href={to(narrowQuery(visit, file, period))} rel="nofollow" safe>
            {say(period.name)}
          </a>
        </>
      ))}
    </p>
  )
}

function describeShownRows(total: number | null): Text {
  if (total === null) return { en: 'All matching rows', zh: '符合条件的全部记录' }
  const rows = formatGrouped(String(total))
  return { en: total === 1 ? 'This row' : `These ${rows} rows`, zh: `当前列表（${rows} 条）` }
}

/** `isShorter`: the page offers a shorter period, or its form does. */
function describeBeyond(total: number, isShorter: boolean): Text {
  const [rows, most] = [formatGrouped(String(total)), formatGrouped(String(MAX_ROWS))]
  const shorter = isShorter ? { en: 'choose a shorter period, or ', zh: '选择较短的区间，或' } : { en: '', zh: '' }
  return {
    en: `this list has ${rows} rows, and a file at most ${most}; ${shorter.en}use the API with a key.`,
    zh: `当前列表共 ${rows} 条，超过单个文件的上限 ${most} 条；请${shorter.zh}使用 API key 通过 API 获取。`,
  }
}

/** The rows that pass the filters are only known once all have been searched. */
function describeUncounted(): Text {
  const most = formatGrouped(String(MAX_ROWS))
  return {
    en: `the list has too many rows to know whether those that pass the filters fit into a file of ${most}; choose a shorter period, or use the API with a key.`,
    zh: `列表过长，无法确定符合条件的记录是否超过单个文件的上限 ${most} 条；请选择较短的区间，或使用 API key 通过 API 获取。`,
  }
}

function addDays(date: string, days: number): string {
  return formatDate(Math.max(0, (parseDay(date) ?? 0) + days))
}

/** A common period: its name, and its first and last day. Without a last day it goes up to the last block. */
type UsualPeriod = { readonly name: Text; readonly from: string; readonly to?: string }

/** Last 7 and 30 days, this and last month, this and last year, by the day of the last block. */
export function listUsualPeriods({ at }: Pick<Visit, 'at'>): readonly UsualPeriod[] {
  const today = formatDate(toDay(at.time))
  const year = Number(today.slice(0, 'yyyy'.length))
  const since = (from: string, name: Text): UsualPeriod => ({ name, from })
  const last = (days: number): UsualPeriod =>
    since(getRecentPeriod({ at }, days).start_date, { en: `Last ${days} days`, zh: `近 ${days} 天` })
  const thisMonth = `${today.slice(0, 'yyyy-mm'.length)}-01`
  const endOfLastMonth = addDays(thisMonth, -1)
  return [
    last(7),
    last(30),
    since(thisMonth, { en: 'This month', zh: '本月' }),
    {
      name: { en: 'Last month', zh: '上月' },
      to: endOfLastMonth,
      from: `${endOfLastMonth.slice(0, 'yyyy-mm'.length)}-01`,
    },
    since(`${year}-01-01`, { en: 'This year', zh: '今年' }),
    { name: { en: 'Last year', zh: '去年' }, from: `${year - 1}-01-01`, to: `${year - 1}-12-31` },
  ]
}

/** A list as a file: the file, and the canonical name of its subject. */
type FileOf = { readonly file: Download; readonly id: string }

/** Whether a file can have this many rows. */
function isWithinFile(rows: number | null): rows is number {
  return rows !== null && rows > 0 && rows <= MAX_ROWS
}

/**
 * The usual periods whose files work: they have rows, and no more than a file can have. Each follows from the numbers
 * of rows before its days, most of which are known from an earlier page.
 */
export async function findWorkingPeriods(visit: Visit, of: FileOf): Promise<readonly UsualPeriod[]> {
  const periods = of.file.isOfTime ? listUsualPeriods(visit) : []
  const all = periods.length === 0 ? null : await countRows(visit, of, narrowQuery(visit, of.file, {}))
  if (all === null) return []
  const before = (date: string): Promise<number> => countEarlierRows(visit, of, { date, all })
  const working: UsualPeriod[] = []
  for (const period of periods) {
    const end = period.to === undefined ? all : await before(addDays(period.to, 1))
    if (isWithinFile(end - (await before(period.from)))) working.push(period)
  }
  return working
}

/** The number of rows of a list before a day, and the height at which it was counted. */
type Counted = { readonly rows: number; readonly height: number }

/** Numbers of rows before days that have begun: later blocks do not change them. */
const countedBefore = new WeakMap<Site, BoundedCache<Counted>>()
/** Maximum size of the numbers of a service, in characters: some ten thousand of them. */
const MAX_CACHED = 3_000_000

/** `all`: the number of rows of the list. */
async function countEarlierRows(
  visit: Visit,
  of: FileOf,
  { date, all }: { readonly date: string; readonly all: number },
): Promise<number> {
  const counted = countedBefore.get(visit.site) ?? boundedCache<Counted>(MAX_CACHED)
  countedBefore.set(visit.site, counted)
  const query = narrowQuery(visit, of.file, { from: date })
  const key = `${of.file.path} ${of.id} ${query}`
  const known = counted.get(key)?.value
  const { height } = visit.at
  // After a repair the chain is shorter.
  if (known !== undefined && known.height <= height) return known.rows
  const rows = all - ((await countRows(visit, of, query)) ?? 0)
  counted.put(key, { rows, height }, key.length)
  return rows
}

/**
 * Whether the rows of a searched list fit into a file for certain: those of the whole list in its range do, or those
 * that pass one of its filters.
 */
async function isSearchWithinFile(visit: Visit, of: FileOf): Promise<boolean> {
  const given = [...narrowQuery(visit, of.file)].filter(([, value]) => value !== '')
  const range = given.filter(([name]) => RANGE.includes(name))
  const filters = given.filter(([name]) => !RANGE.includes(name))
  for (const wider of [[], ...filters.map(filter => [filter])])
    if (isWithinFile(await countRows(visit, of, new URLSearchParams([...range, ...wider])))) return true
  return false
}

const RANGE = ['from', 'to', 'start_block', 'end_block']

/** The parameters of a page that its file has too, with the given days, if any, in place of the page's own range. */
function narrowQuery(
  visit: Pick<Visit, 'query'>,
  file: Pick<Download, 'narrowedBy'>,
  days?: Partial<Pick<UsualPeriod, 'from' | 'to'>>,
): URLSearchParams {
  const query = new URLSearchParams([...visit.query].filter(([name]) => file.narrowedBy.includes(name)))
  if (days === undefined) return query
  for (const name of RANGE) query.delete(name)
  for (const name of ['from', 'to'] as const) if (days[name] !== undefined) query.set(name, days[name])
  return query
}

/** The number of rows of a file; null: it is unknown. */
async function countRows(visit: Visit, { file, id }: FileOf, query: URLSearchParams): Promise<number | null> {
  const given = { ...file.paramsOf({ id, query, lang: visit.lang }), page: '1', size: '1' }
  const { total } = (await visit.peek(file.action, given)) as { readonly total?: unknown }
  return typeof total === 'number' ? total : null
}
