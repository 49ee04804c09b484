/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import { type Download, MOST_ROWS } from '../download/download.ts'
import { grouped } from '../format/amount.ts'
import { usualPeriods } from '../format/period.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type FilesProps = {
  readonly visit: Visit
  readonly file: Pick<Download, 'path'>
  /** The exact name of what the file is of. */
  readonly id: string
  /** Rows of the list as the address asks for it; undefined: it cannot be asked for so. */
  readonly total: number | undefined
}

/** The list of a page as a file: as it is shown, and of the usual periods with the same filters. */
export const Files = ({ visit, file, id, total }: FilesProps): Html => {
  const { say } = visit
  const to = (period: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams(visit.query)
    for (const name of ['page', 'holders']) query.delete(name)
    if ('from' in period) for (const name of ['start_block', 'end_block']) query.delete(name)
    for (const [name, value] of Object.entries(period)) query.set(name, value)
    const text = query.toString()
    return hrefTo(
      visit,
      `${file.path.replace('{id}', encodeURIComponent(id))}${text === '' ? '' : `?${text}`}`,
    )
  }
  if (total === undefined) return ''
  return (
    <p class="files">
      <span safe>{say({ en: 'Download as CSV:', zh: '下载 CSV：' })}</span>{' '}
      {total > MOST_ROWS ? (
        <span safe>{say(beyond(total))}</span>
      ) : (
        <a href={to({})} rel="nofollow" safe>
          {say(shownRows(total))}
        </a>
      )}
      {usualPeriods(visit).map(({ name, ...period }) => (
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

const shownRows = (total: number): Text => {
  const rows = grouped(String(total))
  return { en: total === 1 ? 'This row' : `These ${rows} rows`, zh: `当前列表（${rows} 条）` }
}

const beyond = (total: number): Text => ({
  en: `these ${grouped(String(total))} rows are more than the ${grouped(String(MOST_ROWS))} of a file; choose a period, or use the API with a key.`,
  zh: `当前列表共 ${grouped(String(total))} 条，超过单个文件的上限 ${grouped(String(MOST_ROWS))} 条；请选择较短的区间，或使用 API key 通过 API 获取。`,
})
