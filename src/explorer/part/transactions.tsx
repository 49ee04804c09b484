/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import type { getBlockList } from '#actions/get-block.ts'
import type { getTransactionList } from '#actions/get-transaction.ts'
import { countOwnTransactions } from '../format/amount.ts'
import { describeOutcome } from '../format/outcome.ts'
import type { TransactionMovement } from '../format/record.ts'
import { actionText, revealInvisible } from '../format/text.ts'
import { formatIso } from '../format/time.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Ago, Amount, Count, None, Place, Until } from './amount.tsx'
import { Rows, type RowsProps } from './list.tsx'
import { Contract, Name, NftName, Owner } from './name.tsx'
import { ChainText, rawHref } from './text.tsx'

type OutcomeProps = { readonly visit: Pick<Visit, 'say'>; readonly code: string }

/** Whether a transaction succeeded, in words. */
export const Outcome = ({ visit, code }: OutcomeProps): Html => (
  <span class={code === 'SUCCESS' ? 'badge good' : 'badge bad'} title={revealInvisible(code)} safe>
    {revealInvisible(visit.say(describeOutcome(code)))}
  </span>
)

/** The outcome in a narrow table: a dot for a success, and one word for any failure. */
const ShortOutcome = ({ visit: { say }, code }: OutcomeProps): Html =>
  code === 'SUCCESS' ? (
    <span class="badge good">
      <span class="sr" safe>
        {say(describeOutcome(code))}
      </span>
    </span>
  ) : (
    <span class="badge bad" title={say(describeOutcome(code))} safe>
      {say({ en: 'Failed', zh: '失败' })}
    </span>
  )

/** The outcome of a failed transaction; empty for a success. */
export const Failed = ({ visit, code }: OutcomeProps): Html =>
  code === 'SUCCESS' ? '' : <Outcome visit={visit} code={code} />

/** Maximum number of movements, and of actions, that a row names. */
export const MAX_NAMED = 2

type MovedProps = {
  readonly visit: Visit
  /** undefined: not known yet. */
  readonly movements: readonly TransactionMovement[] | undefined
}

/** The movements of a transaction in a row of a list: amount, sender and recipient, and the number of further ones. */
export const Moved = ({ visit, movements }: MovedProps): Html =>
  movements === undefined ? (
    <small safe>{visit.say({ en: 'not known yet', zh: '尚不可知' })}</small>
  ) : movements.length === 0 ? (
    <None />
  ) : (
    <span class="what">
      {movements.slice(0, MAX_NAMED).map(movement => (
        <span class="line">
          <What visit={visit} movement={movement} />{' '}
          {movement.from !== '' && <Owner visit={visit} id={movement.from} />}
          {' → '}
          {movement.to !== '' && <Owner visit={visit} id={movement.to} />}
        </span>
      ))}
      {movements.length > MAX_NAMED && <small safe>{`+${movements.length - MAX_NAMED}`}</small>}
    </span>
  )

/** What moved: an amount of a token, or an NFT. */
const What = ({ visit, movement }: Props<{ movement: TransactionMovement }>): Html =>
  'collection' in movement ? (
    <Nft visit={visit} collection={movement.collection} id={movement.nft} />
  ) : (
    <Amount visit={visit} value={movement.amount} token={movement.token} />
  )

/** An NFT outside its collection's pages: the collection and the id, each with a link. */
export const Nft = ({ visit, collection, id }: Props<{ collection: string; id: string | undefined }>): Html => (
  <span>
    <Name visit={visit} kind="nft" id={collection} />
    {id !== undefined && ' '}
    {id !== undefined && <NftName visit={visit} collection={collection} id={id} />}
  </span>
)

type MovementsProps = {
  readonly visit: Visit
  readonly movements: readonly TransactionMovement[]
  readonly none: Text
}

/** In place of the sender, and of the recipient. */
export const ISSUED: Text = { en: 'issued', zh: '发行' }
const DESTROYED: Text = { en: 'destroyed', zh: '销毁' }

export function Movements({ visit, movements, none }: MovementsProps): Html {
  return (
    <Rows
      visit={visit}
      rows={movements}
      none={none}
      columns={[
        ['From', '转出方', ({ from }) => <Owner visit={visit} id={from} none={ISSUED} />, 'bare'],
        ['To', '转入方', ({ to }) => <Owner visit={visit} id={to} none={DESTROYED} />, 'to'],
        // The sender's memo has its own column, so that it is not mistaken for data of the chain.
        movements.some(({ memo }) => memo !== '') && [
          'Memo',
          '备注',
          ({ memo }) =>
            memo === '' ? <None /> : <ChainText visit={visit} text={memo} isProse whole={rawHref(visit)} />,
        ],
        movements.some(({ until }) => until !== undefined) && [
          'Frozen until',
          '冻结至',
          ({ until }) => (until === undefined ? <None /> : <Until visit={visit} iso={formatIso(until)} />),
        ],
        ['Amount', '数量', movement => <What visit={visit} movement={movement} />, 'digits lead'],
      ]}
    />
  )
}

type TransactionRow = AnswerOf<typeof getTransactionList>['transactions'][number]

type TransactionTable = {
  /** The movements of each transaction, by hash; absent: rows do not show movements. */
  readonly moved?: ReadonlyMap<string, readonly TransactionMovement[]>
  /** Whether to show only the most important columns. */
  readonly isNarrow?: boolean
}

/** A table of transactions without its rows. */
export function createTransactionTable(
  visit: Visit,
  { moved, isNarrow = false }: TransactionTable,
): Omit<RowsProps<TransactionRow>, 'visit' | 'rows'> {
  const columns: RowsProps<TransactionRow>['columns'] = [
    ['Transaction', '交易', row => <Name visit={visit} kind="tx" id={row.tx_hash} />],
    !isNarrow && ['Block', '区块', row => <Name visit={visit} kind="block" id={row.block} />, 'wide'],
    ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, 'end'],
    ['Publisher', '发布者', row => <Owner visit={visit} id={row.publisher} />],
    !isNarrow && ['Action', '方法', row => <First visit={visit} row={row} />, 'bare'],
    moved !== undefined && [
      'Moved',
      '代币变动',
      row => <Moved visit={visit} movements={moved.get(row.tx_hash)} />,
      'bare',
    ],
    [
      'Status',
      '状态',
      ({ status_code: code }) =>
        isNarrow ? <ShortOutcome visit={visit} code={code} /> : <Outcome visit={visit} code={code} />,
      'bare',
    ],
    !isNarrow && ['Gas', 'Gas', row => <Count value={row.gas_fee} />, 'digits'],
  ]
  return { live: 'transactions', none: { en: 'No transactions.', zh: '没有交易。' }, columns, isNarrow }
}

/** The first action, and the number of further ones. */
const First = ({ visit, row }: Props<{ row: TransactionRow }>): Html =>
  row.actions === 0 ? (
    <None />
  ) : (
    <span class="what">
      <Contract visit={visit} id={row.contract} /> <bdi safe>{actionText(row.action_name)}</bdi>
      {row.actions > 1 && <small safe>{` +${row.actions - 1}`}</small>}
    </span>
  )

type BlockRow = AnswerOf<typeof getBlockList>['blocks'][number]

/**
 * A table of blocks without its rows.
 * @param isNarrow whether to show only the most important columns
 */
export function createBlockTable(visit: Visit, isNarrow: boolean): Omit<RowsProps<BlockRow>, 'visit' | 'rows'> {
  const columns: RowsProps<BlockRow>['columns'] = [
    ['Block', '区块', row => <Name visit={visit} kind="block" id={row.number} />],
    ['Time', '时间', row => <Ago visit={visit} iso={formatIso(row.time)} />, 'end'],
    ['Producer', '生产者', row => <Owner visit={visit} id={row.witness_account} />],
    [
      isNarrow ? 'Txs' : 'Transactions',
      '交易数',
      row => <Place value={countOwnTransactions(Number(row.number), row.tx_count)} />,
      'digits',
    ],
    !isNarrow && ['Gas', 'Gas', row => <Count value={row.gas_usage} />, 'digits'],
  ]
  return { live: 'blocks', none: { en: 'No blocks.', zh: '没有区块。' }, columns, isNarrow }
}
