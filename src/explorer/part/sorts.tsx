/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** A sort order of a list: its name in the address, its label, and the figure of a row by which it sorts. */
export type Order<R> = {
  readonly by: string
  readonly name: Text
  /** A decimal; rows are sorted by it in descending order. */
  readonly figure: (row: R) => string | number
}

/** The requested order; undefined: the default order of the list. */
export const orderGiven = <R,>({ query }: Pick<Visit, 'query'>, orders: readonly Order<R>[]): Order<R> | undefined =>
  orders.find(({ by }) => by === query.get('by'))

/** Rows by a figure, in descending order. The sort is stable. */
export const ordered = <R,>(rows: readonly R[], { figure }: Order<R>): readonly R[] => {
  const keyed = rows.map(row => ({ row, key: exactOf(String(figure(row))) }))
  return keyed.sort((one, other) => (one.key === other.key ? 0 : one.key < other.key ? 1 : -1)).map(({ row }) => row)
}

/** Maximum decimals of a figure. */
const PLACES = 18

const exactOf = (decimal: string): bigint => {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}

type SortsProps = {
  readonly visit: Visit
  /** The label of the list's default order. */
  readonly own: Text
  readonly orders: readonly Pick<Order<never>, 'by' | 'name'>[]
}

/** Links to the other sort orders of a list. */
export const Sorts = ({ visit, own, orders }: SortsProps): Html => {
  const { say, path, query } = visit
  const chosen = orders.find(({ by }) => by === query.get('by'))?.by
  const all = [{ by: undefined, name: own }, ...orders]
  return (
    <nav class="sorts" aria-label={say({ en: 'Order', zh: '排序' })}>
      <span safe>{say({ en: 'Sort by: ', zh: '排序：' })}</span>
      {all.map(({ by, name }) => (
        <>
          {' '}
          <a
            href={hrefTo(visit, by === undefined ? path : `${path}?by=${by}`)}
            aria-current={by === chosen ? 'true' : undefined}
            safe
          >
            {say(name)}
          </a>
        </>
      ))}
    </nav>
  )
}
