/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getTransactionList } from '#actions/get-transaction-list.ts'
import { actionText } from '../format/action-name.ts'
import type { Movement } from '../format/movements.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Moved } from './moved.tsx'
import { Contract, Name, Owner } from './name.tsx'
import { None } from './none.tsx'
import { Outcome, ShortOutcome } from './outcome.tsx'
import { type Column, Rows } from './rows.tsx'
import { Ago } from './time.tsx'

/** A row of get-transaction-list. */
type TransactionRow = AnswerOf<typeof getTransactionList>['transactions'][number]

type TransactionRowsProps = {
  readonly visit: Visit
  readonly rows: readonly TransactionRow[]
  readonly live?: string
  /** The movements of each transaction, by hash; absent: rows do not show movements. */
  readonly moved?: ReadonlyMap<string, readonly Movement[]>
  /** Whether to show only the most important columns. */
  readonly isNarrow?: boolean
}

/** A table of transactions. */
export const TransactionRows = ({ visit, rows, live, moved, isNarrow = false }: TransactionRowsProps): Html => (
  <Rows
    visit={visit}
    rows={rows}
    none={{ en: 'No transactions.', zh: '没有交易。' }}
    isNarrow={isNarrow}
    {...(live === undefined ? {} : { live })}
    columns={columnsFor(visit, isNarrow, moved)}
  />
)

const columnsFor = (
  visit: Visit,
  isNarrow: boolean,
  moved: TransactionRowsProps['moved'],
): readonly Column<TransactionRow>[] => {
  const ifWide = (wide: Column<TransactionRow>) => (isNarrow ? [] : [wide])
  return [
    ['Transaction', '交易', row => <Name visit={visit} kind="tx" id={row.tx_hash} />],
    ...ifWide(['Block', '区块', row => <Name visit={visit} kind="block" id={row.block} />, { place: 'wide' }]),
    ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, { place: 'end' }],
    ['Publisher', '发布者', row => <Owner visit={visit} id={row.publisher} />],
    ...ifWide(['Action', '方法', row => <First visit={visit} row={row} />, { place: 'bare' }]),
    ...(moved === undefined ? [] : [movedColumn(visit, moved)]),
    [
      ...(['Status', '状态'] as const),
      ({ status_code: code }) =>
        isNarrow ? <ShortOutcome visit={visit} code={code} /> : <Outcome visit={visit} code={code} />,
      { place: 'bare' },
    ],
    ...ifWide(['Gas', 'Gas', row => <Count value={row.gas_fee} />, { isNumber: true }]),
  ]
}

const movedColumn = (visit: Visit, moved: ReadonlyMap<string, readonly Movement[]>): Column<TransactionRow> => [
  'Moved',
  '代币变动',
  ({ tx_hash }) => <Moved visit={visit} movements={moved.get(tx_hash)} />,
  { place: 'bare' },
]

/** The first action, and the number of further ones. */
const First = ({ visit, row }: { readonly visit: Visit; readonly row: TransactionRow }): Html =>
  row.actions === 0 ? (
    <None />
  ) : (
    <span class="what">
      <Contract visit={visit} id={row.contract} /> <bdi safe>{actionText(row.action_name)}</bdi>
      {row.actions > 1 && <small safe>{` +${row.actions - 1}`}</small>}
    </span>
  )
