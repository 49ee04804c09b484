/** @jsxImportSource @kitajs/html */
import { memoOf, movedBy, type Recorded, WAYS, wayOf } from '../format/record.ts'
import { beginningOf, shortened, visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Amount } from './amount.tsx'
import { Name, Owner } from './name.tsx'
import { None } from './none.tsx'
import { Failed } from './outcome.tsx'
import { type Column, Rows } from './rows.tsx'
import { Ago } from './time.tsx'

type RecordRowsProps = {
  readonly visit: Visit
  readonly rows: readonly Recorded[]
  /** The owner of these rows: amounts that it gave have a minus. */
  readonly owner?: string
  readonly live?: string
}

/** Letters of a memo that a row has room for; the page of the transaction has all of it. */
const MEMO = 60

/** Records, a line each. */
export const RecordRows = ({ visit, rows, owner, live }: RecordRowsProps): Html => {
  const columns: readonly Column<Recorded>[] = [
    ['Transaction', '交易', row => <Name visit={visit} kind="tx" id={row.tx_hash} />, { place: 'base' }],
    ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, { place: 'base' }],
    ['Action', '方法', row => <What visit={visit} row={row} />, { place: 'lead' }],
    ['From', '从', row => <Party visit={visit} id={row.from} owner={owner} />, { place: 'bare' }],
    ...(owner === undefined ? [] : [directionColumn(visit, owner)]),
    ['To', '到', row => <Party visit={visit} id={row.to} owner={owner} />, { place: 'to' }],
    [
      'Amount',
      '数量',
      row => <Movement visit={visit} row={row} owner={owner} />,
      { isNumber: true, place: 'end' },
    ],
  ]
  return (
    <Rows
      visit={visit}
      rows={rows}
      none={{ en: 'No records.', zh: '没有记录。' }}
      columns={columns}
      {...(live === undefined ? {} : { live })}
    />
  )
}

type PartyProps = { readonly visit: Visit; readonly id: string; readonly owner: string | undefined }

/** A party of a row. The other side links to its page; the owner of the rows does not, as the reader is there. */
const Party = ({ visit, id, owner }: PartyProps): Html =>
  id !== '' && id === owner ? (
    <span class="name own">
      <bdi safe>{shortened(visible(id))}</bdi>
    </span>
  ) : (
    <Owner visit={visit} id={id} />
  )

const directionColumn = (visit: Visit, owner: string): Column<Recorded> => [
  'In or out',
  '转入或转出',
  row => <Direction visit={visit} row={row} owner={owner} />,
  {
    place: 'bare',
    isSpare: true,
  },
]

/** The direction of a movement, in a word. */
const Direction = ({
  visit: { say },
  row,
  owner,
}: Omit<MovementProps, 'owner'> & { readonly owner: string }): Html => {
  const way = wayOf(row, owner)
  if (way === undefined) return ''
  return (
    <span
      class={way === 'in' ? 'way in' : 'way'}
      title={
        way === 'none'
          ? say({ en: 'This account neither gave nor got it', zh: '此账户的余额未因此变动' })
          : undefined
      }
      safe
    >
      {say(WAYS[way])}
    </span>
  )
}

const What = ({ visit, row }: { readonly visit: Visit; readonly row: Recorded }): Html => {
  const memo = beginningOf(memoOf(row.action_name, row.data), MEMO)
  return (
    <span class="what">
      <bdi safe>{visible(row.action_name)}</bdi> <Failed visit={visit} code={row.status_code} />
      {memo.text === '' ? (
        ''
      ) : (
        <small class="memo">
          <bdi safe>{`${visible(memo.text)}${memo.isWhole ? '' : '…'}`}</bdi>
        </small>
      )}
    </span>
  )
}

type MovementProps = { readonly visit: Visit; readonly row: Recorded; readonly owner: string | undefined }

const Movement = ({ visit, row, owner }: MovementProps): Html => {
  const moved = movedBy(row)
  if (moved === undefined) return <None />
  const amount = <Amount visit={visit} value={moved.amount} token={moved.token} />
  const way = owner === undefined ? undefined : wayOf(row, owner)
  if (way === 'out') return <span class="out">−{amount as 'safe'}</span>
  return way === 'in' ? <span class="in good">+{amount as 'safe'}</span> : amount
}
