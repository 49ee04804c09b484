import { type BoundedCache, boundedCache } from '#store/bounded-cache.ts'
import { getNextDate, type UsualPeriod, usualPeriods } from '../format/period.ts'
import type { Site, Visit } from '../page.ts'
import { type Download, MAX_ROWS } from './file.ts'

/** A list as a file: the file, and the canonical name of its subject. */
type FileOf = { readonly file: Download; readonly id: string }

/** Whether a file can have this many rows. */
export function isWithinFile(rows: number | null): rows is number {
  return rows !== null && rows > 0 && rows <= MAX_ROWS
}

/**
 * The usual periods whose files work: they have rows, and no more than a file can have. Each follows from the numbers
 * of rows before its days, most of which are known from an earlier page.
 */
export async function findWorkingPeriods(visit: Visit, of: FileOf): Promise<readonly UsualPeriod[]> {
  const periods = of.file.isOfTime ? usualPeriods(visit) : []
  const all = periods.length === 0 ? null : await countRows(visit, of, narrowQuery(visit, of.file, {}))
  if (all === null) return []
  const before = (date: string): Promise<number> => countEarlierRows(visit, of, { date, all })
  const working = new Set<UsualPeriod>()
  // Shortest first: each contains the ones before.
  const open = periods.filter(({ to }) => to === undefined).toSorted((a, b) => (a.from < b.from ? 1 : -1))
  let rows = 0
  for (const period of open) {
    const isKnown = rows > MAX_ROWS || (rows > 0 && all <= MAX_ROWS)
    if (!isKnown) rows = all - (await before(period.from))
    if (isWithinFile(rows)) working.add(period)
  }
  for (const period of periods)
    if (period.to !== undefined && isWithinFile((await before(getNextDate(period.to))) - (await before(period.from))))
      working.add(period)
  return periods.filter(period => working.has(period))
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
export async function isSearchWithinFile(visit: Visit, of: FileOf): Promise<boolean> {
  const given = [...narrowQuery(visit, of.file)].filter(([, value]) => value !== '')
  const range = given.filter(([name]) => RANGE.includes(name))
  const filters = given.filter(([name]) => !RANGE.includes(name))
  for (const wider of [[], ...filters.map(filter => [filter])])
    if (isWithinFile(await countRows(visit, of, new URLSearchParams([...range, ...wider])))) return true
  return false
}

const RANGE = ['from', 'to', 'start_block', 'end_block']

/** The parameters of a page that its file has too, with the given days, if any, in place of the page's own range. */
export function narrowQuery(
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
