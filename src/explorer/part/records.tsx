/** @jsxImportSource @kitajs/html */
import type { CallParameters } from '#actions/ask.ts'
import type { Download } from '../download/file.ts'
import {
  findCalledAmount,
  findDirection,
  findMoved,
  getMemo,
  getRowParties,
  type RecordRow,
  WAYS,
} from '../format/record.ts'
import { actionText, cut, revealInvisible, shortenName } from '../format/text.ts'
import { formatIso, formatTime, isNanoseconds } from '../format/time.ts'
import { toHref } from '../links.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Ago, Amount, Count, None } from './amount.tsx'
import { Files } from './files.tsx'
import { Pager, Rows, readGivenPage } from './list.tsx'
import { Name, Owner } from './name.tsx'
import { Failed, Nft } from './transactions.tsx'

type RecordRowsProps = {
  readonly visit: Visit
  readonly rows: readonly RecordRow[]
  /** The owner of these rows: amounts that it sent have a minus. */
  readonly owner?: string
  readonly live?: string | undefined
  /** Whether older rows may be found that have not been searched yet. */
  readonly isSearching?: boolean
}

/** Maximum length of a memo in a row. The transaction's page shows all of it. */
const MEMO = 60

const RecordRows = ({ visit, rows, owner, live, isSearching = false }: RecordRowsProps): Html => (
  <Rows
    visit={visit}
    rows={rows}
    none={isSearching ? { en: 'Nothing found so far.', zh: '暂未找到。' } : { en: 'No records.', zh: '没有记录。' }}
    live={live}
    columns={[
      ['Transaction', '交易', row => <Name visit={visit} kind="tx" id={row.tx_hash} />, 'base'],
      ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, 'base'],
      ['Action', '方法', row => <What visit={visit} row={row} />, 'lead'],
      ['From', '转出方', row => <Party visit={visit} id={getRowParties(row).from} owner={owner} />, 'bare'],
      owner !== undefined && ['Direction', '方向', row => <Direction visit={visit} row={row} owner={owner} />, 'bare'],
      ['To', '转入方', row => <Party visit={visit} id={getRowParties(row).to} owner={owner} />, 'to'],
      ['Amount', '数量', row => <Movement visit={visit} row={row} owner={owner} />, 'digits end'],
    ]}
  />
)

/** A party of a row. The counterparty has a link; the owner of the rows has none, since its page is the current one. */
const Party = ({ visit, id, owner }: Props<{ id: string; owner: string | undefined }>): Html =>
  id !== '' && id === owner ? (
    <span class="name own">
      <bdi safe>{shortenName(revealInvisible(id))}</bdi>
    </span>
  ) : (
    <Owner visit={visit} id={id} />
  )

/** The direction of a movement, in a word. */
function Direction({ visit: { say }, row, owner }: Omit<MovementProps, 'owner'> & { readonly owner: string }): Html {
  const way = findDirection(row, owner)
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

function What({ visit, row }: Props<{ row: RecordRow }>): Html {
  const memo = cut(getMemo(row.action_name, row.data), MEMO)
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

type MovementProps = Props<{ row: RecordRow; owner: string | undefined }>

function Movement({ visit, row, owner }: MovementProps): Html {
  if (row.collection !== undefined) return <Nft visit={visit} collection={row.collection} id={row.token_id} />
  const moved = findMoved(row)
  if (moved === undefined) return <CalledAmount visit={visit} row={row} />
  const amount = <Amount visit={visit} value={moved.amount} token={moved.token} />
  const way = owner === undefined ? undefined : findDirection(row, owner)
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
function CalledAmount({ visit: { say }, row }: Omit<MovementProps, 'owner'>): Html {
  const named = findCalledAmount(row)
  if (named === undefined) return <None />
  return (
    <span class="amount named" title={say({ en: 'Its token movement is a row of its own', zh: '其代币变动另有记录' })}>
      <Count value={named.amount} />{' '}
      <span safe>{named.unit === 'iost' ? 'iost' : say({ en: 'bytes', zh: '字节' })}</span>
    </span>
  )
}

/** The end of a freeze. It is separate from the memo, which the sender may write freely. */
const Lock = ({ visit: { say }, until }: Props<{ until: string | undefined }>): Html =>
  until === undefined || !isNanoseconds(until) ? (
    ''
  ) : (
    <small class="lock">
      <span safe>{say({ en: 'locked until ', zh: '锁定至 ' })}</span>
      <time class="at" datetime={formatIso(until)} safe>
        {`${formatTime(formatIso(until))} UTC`}
      </time>
    </small>
  )

/** The paging fields of a list of records. Searched rows have no number, so their pages can only be read in order. */
type Listed = {
  readonly transactions: readonly RecordRow[]
  /** null: unknown. */
  readonly total?: number | null | undefined
  /** The position of the next page; absent: this is the last page, or pages have numbers. */
  readonly next?: string | undefined
}

/** The requested part of a list of records, as parameters of the API. */
export function readGivenPart(visit: Pick<Visit, 'query'>): CallParameters {
  const after = visit.query.get('after') ?? ''
  const { page, size } = readGivenPage(visit)
  return after === '' ? { page, size } : { size, after }
}

/** Links to the other pages of a list of records. */
function RecordPager({ visit, listed }: Props<{ listed: Listed }>): Html {
  const { total, next } = listed
  const isLater = (visit.query.get('after') ?? '') !== ''
  if (next === undefined && !isLater && typeof total === 'number') return <Pager visit={visit} total={total} />
  return <Steps visit={visit} listed={listed} isLater={isLater} />
}

function Steps({ visit, listed: { transactions, next }, isLater }: Props<{ listed: Listed; isLater: boolean }>): Html {
  const { say } = visit
  const to = (after: string | undefined): string => {
    const query = new URLSearchParams(visit.query)
    for (const name of ['page', 'after']) query.delete(name)
    if (after !== undefined) query.set('after', after)
    return toHref(visit, `${visit.path}?${query}`)
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

type RecordListProps = Pick<RecordRowsProps, 'visit' | 'owner' | 'live'> & {
  /** The file with the whole list, and the canonical name of its subject. */
  readonly file: Download
  readonly id: string
  readonly listed: Listed
}

/** The requested page of a list of records: links to the file, the rows, and links to the other pages. */
export const RecordList = ({ file, id, listed, ...rows }: RecordListProps): Html => (
  <>
    <Files
      visit={rows.visit}
      file={file}
      id={id}
      total={listed.total ?? null}
      hasRows={listed.transactions.length > 0}
    />
    <RecordRows {...rows} rows={listed.transactions} isSearching={listed.next !== undefined} />
    <RecordPager visit={rows.visit} listed={listed} />
  </>
)
