import { type UsualPeriod, usualPeriods } from '../format/period.ts'
import type { Visit } from '../page.ts'
import { type Download, MOST_ROWS } from './download.ts'

/** A list as a file: the file, and the canonical name of its subject. */
export type FileOf = { readonly file: Download; readonly id: string }

/** Whether a file can have this many rows. */
export function isWithinFile(rows: number | null): rows is number {
  return rows !== null && rows > 0 && rows <= MOST_ROWS
}

/**
 * The usual periods whose files work: they have rows, and no more than a file can have. `total`: rows of the list
 * without a period. Most periods follow from each other, so few of them are counted.
 */
export async function findWorkingPeriods(visit: Visit, of: FileOf, total: number): Promise<readonly UsualPeriod[]> {
  const periods = of.file.isOfTime ? usualPeriods(visit) : []
  const working = new Set<UsualPeriod>()
  const count = (period: UsualPeriod): Promise<number | null> =>
    countRows(visit, of, narrowQuery(visit, of.file, period))
  // Shortest first: each contains the ones before.
  const open = periods.filter(({ to }) => to === undefined).toSorted((a, b) => (a.from < b.from ? 1 : -1))
  let rows: number | null = 0
  for (const period of open) {
    const isKnown = rows !== 0 && (total <= MOST_ROWS || !isWithinFile(rows))
    if (!isKnown) rows = await count(period)
    if (isWithinFile(rows)) working.add(period)
  }
  for (const period of periods.filter(({ to }) => to !== undefined))
    if (isWithinFile(await count(period))) working.add(period)
  return periods.filter(period => working.has(period))
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

/** The parameters of a page that its file has too, with the days of a period in place of the page's own range. */
export function narrowQuery(
  visit: Pick<Visit, 'query'>,
  file: Pick<Download, 'narrowedBy'>,
  period?: UsualPeriod,
): URLSearchParams {
  const query = new URLSearchParams([...visit.query].filter(([name]) => file.narrowedBy.includes(name)))
  if (period === undefined) return query
  for (const name of RANGE) query.delete(name)
  query.set('from', period.from)
  if (period.to !== undefined) query.set('to', period.to)
  return query
}

/** The number of rows of a file; null: it is unknown. */
async function countRows(visit: Visit, { file, id }: FileOf, query: URLSearchParams): Promise<number | null> {
  const given = { ...file.paramsOf({ id, query, lang: visit.lang }), page: '1', size: '1' }
  const { total } = (await visit.peek(file.action, given)) as { readonly total?: unknown }
  return typeof total === 'number' ? total : null
}
