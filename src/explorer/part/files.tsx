/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import { type Download, MOST_ROWS } from '../download/download.ts'
import { findWorkingPeriods, isSearchWithinFile, isWithinFile, narrowQuery } from '../download/working-periods.ts'
import { grouped } from '../format/amount.ts'
import { hrefTo } from '../links.ts'
import type { Visit } from '../page.ts'

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
export const Files = async ({ visit, file, id = '', total, hasRows = total !== 0 }: FilesProps): Promise<string> => {
  if (!hasRows) return ''
  const { say } = visit
  const to = (query: URLSearchParams): string => {
    const text = query.toString()
    return hrefTo(visit, `${file.path.replace('{id}', encodeURIComponent(id))}${text === '' ? '' : `?${text}`}`)
  }
  const of = { file, id }
  const isWhole = total === null ? await isSearchWithinFile(visit, of) : isWithinFile(total)
  const periods = total === null ? [] : await findWorkingPeriods(visit, of)
  return (
    <p class="files">
      <span safe>{say({ en: 'Download as CSV:', zh: '下载 CSV：' })}</span>{' '}
      {isWhole ? (
        <a href={to(narrowQuery(visit, file))} rel="nofollow" safe>
          {say(shownRows(total))}
        </a>
      ) : (
        <span safe>
          {say(total === null ? uncounted() : beyond(total, periods.length > 0 || file.narrowedBy.includes('from')))}
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

const shownRows = (total: number | null): Text => {
  if (total === null) return { en: 'All matching rows', zh: '符合条件的全部记录' }
  const rows = grouped(String(total))
  return { en: total === 1 ? 'This row' : `These ${rows} rows`, zh: `当前列表（${rows} 条）` }
}

/** `isShorter`: the page offers a shorter period, or its form does. */
const beyond = (total: number, isShorter: boolean): Text => {
  const [rows, most] = [grouped(String(total)), grouped(String(MOST_ROWS))]
  const shorter = isShorter ? { en: 'choose a shorter period, or ', zh: '选择较短的区间，或' } : { en: '', zh: '' }
  return {
    en: `this list has ${rows} rows, and a file at most ${most}; ${shorter.en}use the API with a key.`,
    zh: `当前列表共 ${rows} 条，超过单个文件的上限 ${most} 条；请${shorter.zh}使用 API key 通过 API 获取。`,
  }
}

/** The rows that pass the filters are only known once all have been searched. */
const uncounted = (): Text => {
  const most = grouped(String(MOST_ROWS))
  return {
    en: `the list has too many rows to know whether those that pass the filters fit into a file of ${most}; choose a shorter period, or use the API with a key.`,
    zh: `列表过长，无法确定符合条件的记录是否超过单个文件的上限 ${most} 条；请选择较短的区间，或使用 API key 通过 API 获取。`,
  }
}
