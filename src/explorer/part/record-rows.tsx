/** @jsxImportSource @kitajs/html */
import { actionText } from '../format/action-name.ts'
import { calledFor, memoOf, movedBy, partiesOf, type RecordRow, WAYS, wayOf } from '../format/record.ts'
import { absolute, isNanoseconds, isoOf } from '../format/time.ts'
import { cut, shortened, visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Amount, Count } from './amount.tsx'
import { Nft } from './moved.tsx'
import { Name, Owner } from './name.tsx'
import { None } from './none.tsx'
import { Failed } from './outcome.tsx'
import { type Column, Rows } from './rows.tsx'
import { Ago } from './time.tsx'

type RecordRowsProps = {
  readonly visit: Visit
  readonly rows: readonly RecordRow[]
  /** The owner of these rows: amounts that it sent have a minus. */
  readonly owner?: string
  readonly live?: string
  /** Whether older rows may be found that have not been searched yet. */
  readonly isSearching?: boolean
}

/** Maximum length of a memo in a row. The transaction's page shows all of it. */
const MEMO = 60

/** A table of records. */
export const RecordRows = ({ visit, rows, owner, live, isSearching = false }: RecordRowsProps): Html => {
  const columns: readonly Column<RecordRow>[] = [
    ['Transaction', '交易', row => <Name visit={visit} kind="tx" id={row.tx_hash} />, { place: 'base' }],
    ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, { place: 'base' }],
    ['Action', '方法', row => <What visit={visit} row={row} />, { place: 'lead' }],
    ['From', '转出方', row => <Party visit={visit} id={partiesOf(row).from} owner={owner} />, { place: 'bare' }],
    ...(owner === undefined ? [] : [directionColumn(visit, owner)]),
    ['To', '转入方', row => <Party visit={visit} id={partiesOf(row).to} owner={owner} />, { place: 'to' }],
    ['Amount', '数量', row => <Movement visit={visit} row={row} owner={owner} />, { isNumber: true, place: 'end' }],
  ]
  return (
    <Rows
      visit={visit}
      rows={rows}
      none={isSearching ? { en: 'Nothing found so far.', zh: '暂未找到。' } : { en: 'No records.', zh: '没有记录。' }}
      columns={columns}
      {...(live === undefined ? {} : { live })}
    />
  )
}

type PartyProps = { readonly visit: Visit; readonly id: string; readonly owner: string | undefined }

/** A party of a row. The counterparty has a link; the owner of the rows has none, since its page is the current one. */
const Party = ({ visit, id, owner }: PartyProps): Html =>
  id !== '' && id === owner ? (
    <span class="name own">
      <bdi safe>{shortened(visible(id))}</bdi>
    </span>
  ) : (
    <Owner visit={visit} id={id} />
  )

const directionColumn = (visit: Visit, owner: string): Column<RecordRow> => [
  'Direction',
  '方向',
  row => <Direction visit={visit} row={row} owner={owner} />,
  { place: 'bare' },
]

/** The direction of a movement, in a word. */
const Direction = ({ visit: { say }, row, owner }: Omit<MovementProps, 'owner'> & { readonly owner: string }): Html => {
  const way = wayOf(row, owner)
  if (way === undefined) return ''
  return (
    <span
      class={way === 'in' ? 'way in' : 'way'}
      title={way === 'none' ? say({ en: 'Neither from nor to this account', zh: '此账户的余额未因此变动' }) : undefined}
      safe
    >
      {say(WAYS[way])}
    </span>
  )
}

const What = ({ visit, row }: { readonly visit: Visit; readonly row: RecordRow }): Html => {
  const memo = cut(memoOf(row.action_name, row.data), MEMO)
  return (
    <span class="what">
      <bdi safe>{actionText(row.action_name)}</bdi> <Failed visit={visit} code={row.status_code} />
      {memo !== '' && (
        <small class="memo">
          <bdi safe>{memo}</bdi>
        </small>
      )}
    </span>
  )
}

type MovementProps = { readonly visit: Visit; readonly row: RecordRow; readonly owner: string | undefined }

const Movement = ({ visit, row, owner }: MovementProps): Html => {
  if (row.collection !== undefined) return <Nft visit={visit} collection={row.collection} id={row.token_id} />
  const moved = movedBy(row)
  if (moved === undefined) return <CalledFor visit={visit} row={row} />
  const amount = <Amount visit={visit} value={moved.amount} token={moved.token} />
  const way = owner === undefined ? undefined : wayOf(row, owner)
  const lock = <Lock visit={visit} until={row.locked_until} />
  if (way === 'out')
    return (
      <>
        <span class="out">−{amount as 'safe'}</span>
        {lock as 'safe'}
      </>
    )
  return (
    <>
      {way === 'in' ? <span class="in good">+{amount as 'safe'}</span> : (amount as 'safe')}
      {lock as 'safe'}
    </>
  )
}

/** The amount in a call, without a sign: the movements are in separate rows. */
const CalledFor = ({ visit: { say }, row }: Omit<MovementProps, 'owner'>): Html => {
  const named = calledFor(row)
  if (named === undefined) return <None />
  return (
    <span class="amount named" title={say({ en: 'Its token movement is a row of its own', zh: '其代币变动另有记录' })}>
      <Count value={named.amount} />{' '}
      <span safe>{named.unit === 'iost' ? 'iost' : say({ en: 'bytes', zh: '字节' })}</span>
    </span>
  )
}

type LockProps = { readonly visit: Visit; readonly until: string | undefined }

/** The end of a freeze. It is separate from the memo, which the sender may write freely. */
const Lock = ({ visit: { say }, until }: LockProps): Html =>
  until === undefined || !isNanoseconds(until) ? (
    ''
  ) : (
    <small class="lock">
      <span safe>{say({ en: 'locked until ', zh: '锁定至 ' })}</span>
      <time class="at" datetime={isoOf(until)} safe>
        {`${absolute(isoOf(until))} UTC`}
      </time>
    </small>
  )
