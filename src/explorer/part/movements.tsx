/** @jsxImportSource @kitajs/html */
import type { Movement } from '../format/movements.ts'
import { isoOf } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Amount } from './amount.tsx'
import { Owner } from './name.tsx'
import { None } from './none.tsx'
import { rawHref } from './raw.tsx'
import { type Column, Rows } from './rows.tsx'
import { ChainText } from './text.tsx'
import { When } from './time.tsx'

type MovementsProps = {
  readonly visit: Visit
  readonly movements: readonly Movement[]
  /** The text that stands for an empty list. */
  readonly none: string
}

/** Who gave what to whom, a line each. */
export const Movements = ({ visit, movements, none }: MovementsProps): Html => {
  const { say } = visit
  return (
    <Rows
      rows={movements}
      none={none}
      columns={[
        {
          head: say({ en: 'From', zh: '从' }),
          place: 'bare',
          cell: ({ from }) =>
            from === '' ? (
              <span class="none" safe>
                {say({ en: 'issued', zh: '发行' })}
              </span>
            ) : (
              <Owner visit={visit} id={from} />
            ),
        },
        {
          head: say({ en: 'To', zh: '到' }),
          place: 'to',
          cell: ({ to }) =>
            to === '' ? (
              <span class="none" safe>
                {say({ en: 'destroyed', zh: '销毁' })}
              </span>
            ) : (
              <Owner visit={visit} id={to} />
            ),
        },
        ...(movements.some(({ memo }) => memo !== '') ? [memoColumn(visit)] : []),
        ...(movements.some(({ until }) => until !== undefined) ? [untilColumn(visit)] : []),
        {
          head: say({ en: 'Amount', zh: '数量' }),
          place: 'lead',
          isNumber: true,
          cell: ({ amount, token }) => <Amount visit={visit} value={amount} token={token} />,
        },
      ]}
    />
  )
}

/** What the sender wrote. It has a column of its own, so that it cannot be taken for what the chain says. */
const memoColumn = (visit: Visit): Column<Movement> => ({
  head: visit.say({ en: 'Memo', zh: '备注' }),
  cell: ({ memo }) =>
    memo === '' ? <None /> : <ChainText visit={visit} text={memo} isProse whole={rawHref(visit)} />,
})

const untilColumn = (visit: Visit): Column<Movement> => ({
  head: visit.say({ en: 'Frozen until', zh: '冻结至' }),
  cell: ({ until }) => (until === undefined ? <None /> : <When visit={visit} iso={isoOf(until)} />),
})
