/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'

type DayProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly day: { readonly date: string; readonly complete: boolean }
}

/** A UTC day, with a mark if it has not ended. */
export const Day = ({ visit: { say }, day: { date, complete } }: DayProps): Html => (
  <>
    <span class="date" safe>
      {date}
    </span>
    {!complete && (
      <>
        {' '}
        <small safe>{say({ en: 'so far', zh: '截至目前' })}</small>
      </>
    )}
  </>
)
