/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import { type Download, MOST_ROWS } from '../download/download.ts'
import { grouped } from '../format/amount.ts'
import { usualPeriods } from '../format/period.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type FilesProps = {
  readonly visit: Visit
  readonly file: Pick<Download, 'path' | 'isOfTime' | 'narrowedBy'>
  /** The canonical name of the file's subject; absent: the path contains it. */
  readonly id?: string
  /** Number of rows that match the address; null: unknown. */
  readonly total: number | null
}

/**
 * Links to the list of a page as files: the current selection, and, for a list with a range of time, the
 * common periods with the same filters.
 */
export const Files = ({ visit, file, id = '', total }: FilesProps): Html => {
  const { say } = visit
  const to = (period: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams([...visit.query].filter(([name]) => file.narrowedBy.includes(name)))
    if ('from' in period) for (const name of ['start_block', 'end_block']) query.delete(name)
    for (const [name, value] of Object.entries(period)) query.set(name, value)
    const text = query.toString()
    return hrefTo(visit, `${file.path.replace('{id}', encodeURIComponent(id))}${text === '' ? '' : `?${text}`}`)
  }
  return (
    <p class="files">
      <span safe>{say({ en: 'Download as CSV:', zh: '下载 CSV：' })}</span>{' '}
      {total !== null && total > MOST_ROWS ? (
        <span safe>{say(beyond(total, file))}</span>
      ) : (
        <a href={to({})} rel="nofollow" safe>
          {say(shownRows(total))}
        </a>
      )}
      {(file.isOfTime ? usualPeriods(visit) : []).map(({ name, ...period }) => (
        <>
          {' '}
          <a href={to(period)} rel="nofollow" safe>
            {say(name)}
          </a>
        </>
      ))}
    </p>
  )
}

const shownRows = (total: number | null): Text => {
  if (total === null) {
    const most = grouped(String(MOST_ROWS))
    return { en: `All matching rows, up to ${most}`, zh: `符合条件的全部记录（最多 ${most} 条）` }
  }
  const rows = grouped(String(total))
  return { en: total === 1 ? 'This row' : `These ${rows} rows`, zh: `当前列表（${rows} 条）` }
}

const beyond = (total: number, { isOfTime }: FilesProps['file']): Text => {
  const [rows, most] = [grouped(String(total)), grouped(String(MOST_ROWS))]
  const shorter = isOfTime ? { en: 'choose a period, or ', zh: '选择较短的区间，或' } : { en: '', zh: '' }
  return {
    en: `this list has ${rows} rows, and a file at most ${most}; ${shorter.en}use the API with a key.`,
    zh: `当前列表共 ${rows} 条，超过单个文件的上限 ${most} 条；请${shorter.zh}使用 API key 通过 API 获取。`,
  }
}
