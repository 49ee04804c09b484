/** @jsxImportSource @kitajs/html */
import type { Movement } from '../format/movements.ts'
import { isoOf } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Amount } from './amount.tsx'
import { Owner } from './name.tsx'
import { rawHref } from './raw.tsx'
import { Rows } from './rows.tsx'
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
  const isTold = movements.some(({ memo, until }) => memo !== '' || until !== undefined)
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
        ...(isTold
          ? [
              {
                head: say({ en: 'Memo', zh: '备注' }),
                cell: (movement: Movement) => <Note visit={visit} movement={movement} />,
              },
            ]
          : []),
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

const Note = ({ visit, movement }: { readonly visit: Visit; readonly movement: Movement }): Html => (
  <>
    {movement.memo === '' ? (
      ''
    ) : (
      <ChainText visit={visit} text={movement.memo} isProse whole={rawHref(visit)} />
    )}
    {movement.until === undefined ? (
      ''
    ) : (
      <small class="until">
        <span safe>{visit.say({ en: 'Frozen until ', zh: '冻结至 ' })}</span>
        <When visit={visit} iso={isoOf(movement.until)} />
      </small>
    )}
  </>
)
