/** @jsxImportSource @kitajs/html */

import type { AnswerOf, CallParameters } from '#actions/ask.ts'
import { getAccountTx } from '#actions/get-account-tx.ts'
import type { Text } from '#actions/text.ts'
import { isActionName, isContractId, isPossibleName, isSystemContract } from '#chain/names.ts'
import { accountRecords } from '../download/downloads.ts'
import { ACCOUNT_FIELDS, fieldsGiven } from '../format/field.ts'
import { calledFor, memoOf, movedBy, partiesOf, type RecordRow, WAYS, wayOf } from '../format/record.ts'
import { actionText, cut, shortened, visible } from '../format/text.ts'
import { absolute, isNanoseconds, isoOf } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Ago, Amount, Count, None } from './amount.tsx'
import { Filters } from './form.tsx'
import { Files, partGiven, RecordPager } from './list.tsx'
import { Name, Owner } from './name.tsx'
import { Card } from './section.tsx'
import { type Column, Rows } from './table.tsx'
import { Failed, Nft } from './transactions.tsx'

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
export function RecordRows({ visit, rows, owner, live, isSearching = false }: RecordRowsProps): Html {
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
function Direction({ visit: { say }, row, owner }: Omit<MovementProps, 'owner'> & { readonly owner: string }): Html {
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

function What({ visit, row }: { readonly visit: Visit; readonly row: RecordRow }): Html {
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

function Movement({ visit, row, owner }: MovementProps): Html {
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
function CalledFor({ visit: { say }, row }: Omit<MovementProps, 'owner'>): Html {
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

type Records = AnswerOf<typeof getAccountTx>

/** The records of the address: parameters and answer of the API. */
export type RecordsRequest = {
  readonly given: CallParameters & { readonly account: string }
  /** The answer, or the reason why no row can match these filters. */
  readonly answer: Records | Text
}

/** The requested page of an account's records. */
export async function requestedRecords(visit: Visit, account: string): Promise<RecordsRequest> {
  const filters = fieldsGiven(visit, ACCOUNT_FIELDS)
  const given = { account, ...filters }
  const why = whyNone(filters)
  return { given, answer: why ?? (await visit.ask(getAccountTx, { ...given, ...partGiven(visit) })) }
}

/** The reason why no row can match filters together; undefined: rows can match. The API refuses such filters. */
function whyNone(filters: CallParameters): Text | undefined {
  const isMoving = filters['direction'] !== undefined || filters['token'] !== undefined
  if (!isMoving) return undefined
  if (filters['failed'] === '1')
    return {
      en: 'Failed transactions moved nothing: leave out “Failed only”, or direction and token.',
      zh: '失败的交易没有代币变动：请去掉“只看失败”，或去掉方向与代币。',
    }
  const func = filters['func_name']
  return func === undefined || func.startsWith('token.iost/')
    ? undefined
    : {
        en: 'Tokens moved by a call of this contract are listed in rows of their own: leave out the action, or direction and token.',
        zh: '该合约的调用所引起的代币变动另有记录：请去掉方法，或去掉方向与代币。',
      }
}

type AccountRecordsProps = {
  readonly visit: Visit
  readonly asked: RecordsRequest
  /** The tokens to choose from in the filter. */
  readonly tokens: readonly string[]
  /** The content above the filters. */
  readonly children: Html
}

/** The records of an account that match the filters. */
export function AccountRecords({ visit, asked: { given, answer }, tokens, children }: AccountRecordsProps): Html {
  const { say } = visit
  return (
    <Card visit={visit} id="records" title={say({ en: 'Records: payments and calls', zh: '记录：收付款与方法调用' })}>
      {children as 'safe'}
      <Filters
        visit={visit}
        fields={ACCOUNT_FIELDS}
        choices={choicesFor(visit, given.account, { tokens, rows: rowsIn(answer) })}
      />
      {'transactions' in answer ? (
        <>
          <Files
            visit={visit}
            file={accountRecords}
            id={given.account}
            total={answer.total ?? null}
            hasRows={answer.transactions.length > 0}
          />
          <RecordRows
            visit={visit}
            rows={answer.transactions}
            isSearching={answer.next !== undefined}
            owner={given.account}
            live="records"
          />
          <RecordPager visit={visit} listed={answer} />
        </>
      ) : (
        <p class="warn" role="alert" data-live="records" safe>
          {say(answer)}
        </p>
      )}
    </Card>
  )
}

const rowsIn = (answer: Records | Text): readonly RecordRow[] => ('transactions' in answer ? answer.transactions : [])

/** Maximum number of choices of a filter. */
const MOST_CHOICES = 50

/** The common actions of system contracts. */
const USUAL = [
  ...['transfer', 'transferFreeze', 'issue', 'destroy'].map(name => `token.iost/${name}`),
  ...['pledge', 'unpledge'].map(name => `gas.iost/${name}`),
  ...['buy', 'sell', 'lend'].map(name => `ram.iost/${name}`),
  ...['vote', 'unvote', 'voterWithdraw'].map(name => `vote_producer.iost/${name}`),
  ...['auth.iost/signUp', 'system.iost/setCode', 'system.iost/updateCode'],
]

function choicesFor(
  visit: Visit,
  account: string,
  { tokens, rows }: { readonly tokens: readonly string[]; readonly rows: readonly RecordRow[] },
) {
  const { say } = visit
  // A row names its contract only if the contract is the recipient.
  const seen = rows
    .filter(({ to, action_name }) => isContractId(to) && !isSystemContract(to) && isActionName(action_name))
    .map(({ to, action_name }) => `${to}/${action_name}`)
  const parties = rows.flatMap(row => Object.values(partiesOf(row)))
  // An issue may name any text as its recipient, and the filter accepts names alone.
  const others = parties.filter(name => isPossibleName(name) && name !== account)
  const moved = rows.flatMap(({ token }) => (token === undefined ? [] : [token]))
  return {
    direction: {
      choices: ['in', 'out'],
      words: new Map([
        ['in', say(WAYS.in)],
        ['out', say(WAYS.out)],
      ]),
    },
    counterparty: { choices: [...new Set(others)].toSorted() },
    token: { choices: [...new Set(['iost', ...tokens.slice(0, MOST_CHOICES), ...moved])] },
    func_name: { choices: [...new Set([...seen, ...USUAL])] },
  }
}
