/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import type { Movement } from '../format/movements.ts'
import { isoOf } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { What } from './moved.tsx'
import { Owner } from './name.tsx'
import { None } from './none.tsx'
import { rawHref } from './raw.tsx'
import { type Column, Rows } from './rows.tsx'
import { ChainText } from './text.tsx'
import { Until } from './time.tsx'

type MovementsProps = {
  readonly visit: Visit
  readonly movements: readonly Movement[]
  /** The text for an empty list. */
  readonly none: Text
}

/** A table of movements of tokens and NFTs. */
export const Movements = ({ visit, movements, none }: MovementsProps): Html => {
  const { say } = visit
  return (
    <Rows
      visit={visit}
      rows={movements}
      none={none}
      columns={[
        [
          'From',
          '转出方',
          ({ from }) =>
            from === '' ? (
              <span class="none" safe>
                {say({ en: 'issued', zh: '发行' })}
              </span>
            ) : (
              <Owner visit={visit} id={from} />
            ),
          { place: 'bare' },
        ],
        [
          'To',
          '转入方',
          ({ to }) =>
            to === '' ? (
              <span class="none" safe>
                {say({ en: 'destroyed', zh: '销毁' })}
              </span>
            ) : (
              <Owner visit={visit} id={to} />
            ),
          { place: 'to' },
        ],
        ...(movements.some(({ memo }) => memo !== '') ? [memoColumn(visit)] : []),
        ...(movements.some(({ until }) => until !== undefined) ? [untilColumn(visit)] : []),
        ['Amount', '数量', movement => <What visit={visit} movement={movement} />, { isNumber: true, place: 'lead' }],
      ]}
    />
  )
}

/** The sender's memo has its own column, so that it is not mistaken for data of the chain. */
const memoColumn = (visit: Visit): Column<Movement> => [
  'Memo',
  '备注',
  ({ memo }) => (memo === '' ? <None /> : <ChainText visit={visit} text={memo} isProse whole={rawHref(visit)} />),
]

const untilColumn = (visit: Visit): Column<Movement> => [
  'Frozen until',
  '冻结至',
  ({ until }) => (until === undefined ? <None /> : <Until visit={visit} iso={isoOf(until)} />),
]
