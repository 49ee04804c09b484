/** @jsxImportSource @kitajs/html */
import type { Movement } from '../format/movements.ts'
import type { Html, Visit } from '../page.ts'
import { Amount } from './amount.tsx'
import { Owner } from './name.tsx'
import { None } from './none.tsx'

/** Maximum number of movements that a row names. */
const NAMED = 2

type MovedProps = {
  readonly visit: Visit
  /** undefined: not known yet. */
  readonly movements: readonly Movement[] | undefined
}

/** The movements of a transaction in a row of a list: amount, sender and recipient, and the number of further ones. */
export const Moved = ({ visit, movements }: MovedProps): Html =>
  movements === undefined ? (
    <small safe>{visit.say({ en: 'not known yet', zh: '尚不可知' })}</small>
  ) : movements.length === 0 ? (
    <None />
  ) : (
    <span class="what">
      {movements.slice(0, NAMED).map(({ from, to, amount, token }) => (
        <span class="line">
          <Amount visit={visit} value={amount} token={token} /> {from !== '' && <Owner visit={visit} id={from} />}
          {' → '}
          {to !== '' && <Owner visit={visit} id={to} />}
        </span>
      ))}
      {movements.length > NAMED && <small safe>{`+${movements.length - NAMED}`}</small>}
    </span>
  )
