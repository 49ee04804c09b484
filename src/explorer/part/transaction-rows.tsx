/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getTransactionList } from '#actions/get-transaction-list.ts'
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Name, Owner } from './name.tsx'
import { None } from './none.tsx'
import { Outcome } from './outcome.tsx'
import { type Column, Rows } from './rows.tsx'
import { Ago } from './time.tsx'

/** A row of get-transaction-list. */
type TransactionRow = AnswerOf<typeof getTransactionList>['transactions'][number]

type TransactionRowsProps = {
  readonly visit: Visit
  readonly rows: readonly TransactionRow[]
  readonly live?: string
  /** There is room for the most important columns only. */
  readonly isNarrow?: boolean
}

/** Transactions, a line each. */
export const TransactionRows = ({ visit, rows, live, isNarrow = false }: TransactionRowsProps): Html => (
  <Rows
    rows={rows}
    none={visit.say({ en: 'No transactions.', zh: '没有交易。' })}
    isNarrow={isNarrow}
    {...(live === undefined ? {} : { live })}
    columns={columnsFor(visit).filter(({ isExtra }) => !isNarrow || isExtra !== true)}
  />
)

/** `isExtra`: left out where there is little room. */
const columnsFor = (visit: Visit): readonly (Column<TransactionRow> & { readonly isExtra?: boolean })[] => {
  const { say } = visit
  return [
    {
      head: say({ en: 'Transaction', zh: '交易' }),
      cell: row => <Name visit={visit} kind="tx" id={row.tx_hash} />,
    },
    {
      head: say({ en: 'Block', zh: '区块' }),
      place: 'wide',
      isExtra: true,
      cell: row => <Name visit={visit} kind="block" id={row.block} />,
    },
    {
      head: say({ en: 'Time', zh: '时间' }),
      place: 'end',
      cell: row => <Ago visit={visit} iso={row.created_at} />,
    },
    {
      head: say({ en: 'Publisher', zh: '发布者' }),
      cell: row => <Owner visit={visit} id={row.publisher} />,
    },
    {
      head: say({ en: 'Action', zh: '方法' }),
      place: 'bare',
      isExtra: true,
      cell: row => <First visit={visit} row={row} />,
    },
    {
      head: say({ en: 'Status', zh: '状态' }),
      place: 'bare',
      cell: row => <Outcome visit={visit} code={row.status_code} />,
    },
    { head: 'Gas', isNumber: true, isExtra: true, cell: row => <Count value={row.gas_fee} /> },
  ]
}

/** The first action, and how many others there are. */
const First = ({ visit, row }: { readonly visit: Visit; readonly row: TransactionRow }): Html =>
  row.actions === 0 ? (
    <None />
  ) : (
    <span class="what">
      <Name visit={visit} kind="contract" id={row.contract} /> <bdi safe>{visible(row.action_name)}</bdi>
      {row.actions > 1 ? <small safe>{` +${row.actions - 1}`}</small> : ''}
    </span>
  )
