/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** An order of the rows of a list: its name in the address, the figure that it goes by, and that figure of a row. */
export type Order<R> = {
  readonly by: string
  readonly name: Text
  /** A decimal, largest first. */
  readonly figure: (row: R) => string | number
}

/** The order that the address asks for; undefined: that of the list itself. */
export const orderGiven = <R,>(
  { query }: Pick<Visit, 'query'>,
  orders: readonly Order<R>[],
): Order<R> | undefined => orders.find(({ by }) => by === query.get('by'))

/** Rows by a figure, largest first; rows with the same one stay in their order. */
export const ordered = <R,>(rows: readonly R[], { figure }: Order<R>): readonly R[] => {
  const keyed = rows.map(row => ({ row, key: exactOf(String(figure(row))) }))
  return keyed
    .sort((one, other) => (one.key === other.key ? 0 : one.key < other.key ? 1 : -1))
    .map(({ row }) => row)
}

/** Places behind the point that a figure may have. */
const PLACES = 18

const exactOf = (decimal: string): bigint => {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}

type SortsProps = {
  readonly visit: Visit
  /** The list's own order. */
  readonly own: Text
  readonly orders: readonly Pick<Order<never>, 'by' | 'name'>[]
}

/** Leads to the same list in its other orders. */
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
