/** @jsxImportSource @kitajs/html */
import type { CallParameters } from '#actions/ask.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import { Pager, pageGiven } from './pager.tsx'

/** The paging fields of a list of records. Searched rows have no number, so their pages can only be read in order. */
type Listed = {
  readonly transactions: readonly unknown[]
  /** null: unknown. */
  readonly total?: number | null | undefined
  /** The position of the next page; absent: this is the last page, or pages have numbers. */
  readonly next?: string | undefined
}

/** The requested part of a list of records, as parameters of the API. */
export const partGiven = (visit: Pick<Visit, 'query'>): CallParameters => {
  const after = visit.query.get('after') ?? ''
  const { page, size } = pageGiven(visit)
  return after === '' ? { page, size } : { size, after }
}

/** Links to the other pages of a list of records. */
export const RecordPager = ({ visit, listed }: { readonly visit: Visit; readonly listed: Listed }): Html => {
  const { total, next } = listed
  const isLater = (visit.query.get('after') ?? '') !== ''
  if (next === undefined && !isLater && typeof total === 'number') return <Pager visit={visit} total={total} />
  return <Steps visit={visit} listed={listed} isLater={isLater} />
}

type StepsProps = { readonly visit: Visit; readonly listed: Listed; readonly isLater: boolean }

const Steps = ({ visit, listed: { transactions, next }, isLater }: StepsProps): Html => {
  const { say } = visit
  const to = (after: string | undefined): string => {
    const query = new URLSearchParams(visit.query)
    for (const name of ['page', 'after']) query.delete(name)
    if (after !== undefined) query.set('after', after)
    return hrefTo(visit, `${visit.path}?${query}`)
  }
  return (
    <nav class="pager" aria-label={say({ en: 'Pages', zh: '分页' })}>
      <span safe>
        {next === undefined
          ? say({ en: 'No older rows pass these filters.', zh: '没有更早的记录符合这些条件。' })
          : transactions.length === 0
            ? say({ en: 'Older rows are not searched yet.', zh: '更早的记录尚未查找。' })
            : say({ en: 'Older rows are left.', zh: '还有更早的记录。' })}
      </span>
      <span class="steps">
        {isLater && (
          <a href={to(undefined)} safe>
            {say({ en: 'Newest', zh: '最新' })}
          </a>
        )}
        {next !== undefined && (
          <a href={to(next)} rel="next" safe>
            {say({ en: 'Next', zh: '下一页' })}
          </a>
        )}
      </span>
    </nav>
  )
}
