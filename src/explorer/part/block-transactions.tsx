/** @jsxImportSource @kitajs/html */
import { getTransactions } from '#actions/get-transactions.ts'
import { actionText } from '../format/action-name.ts'
import { shortened, visible } from '../format/visible.ts'
import { movementsOf } from '../moved.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Moved } from './moved.tsx'
import { Name, Owner } from './name.tsx'
import { None } from './none.tsx'
import { Outcome } from './outcome.tsx'
import { Rows } from './rows.tsx'
import type { Transaction } from './transaction-facts.tsx'

type BlockTransactionsProps = {
  readonly visit: Visit
  /** The hashes of one page, in the order of the block. */
  readonly hashes: readonly string[]
}

/** Transactions of a block with their actions and movements. */
export const BlockTransactions = async ({ visit, hashes }: BlockTransactionsProps): Promise<string> => {
  const found =
    hashes.length === 0 ? [] : (await visit.ask(getTransactions, { tx_hashes: hashes.join(',') })).transactions
  const transactions = found.flatMap(entry => (entry === null ? [] : [entry.transaction]))
  const moved = await movementsOf(visit, transactions)
  return (
    <Rows
      visit={visit}
      rows={transactions}
      none={{ en: 'No transactions on this page.', zh: '此页没有交易。' }}
      columns={[
        ['Transaction', '交易', ({ hash }) => <Name visit={visit} kind="tx" id={hash} />],
        ['Publisher', '发布者', ({ publisher }) => <Owner visit={visit} id={publisher} />],
        ['Actions', '方法', row => <Done row={row} />, { place: 'bare' }],
        ['Moved', '代币变动', ({ hash }) => <Moved visit={visit} movements={moved.get(hash)} />, { place: 'bare' }],
        [
          'Status',
          '状态',
          ({ tx_receipt }) => <Outcome visit={visit} code={tx_receipt.status_code ?? ''} />,
          { place: 'end' },
        ],
        ['Gas', 'Gas', ({ tx_receipt }) => <Count value={tx_receipt.gas_usage ?? '0'} />, { isNumber: true }],
      ]}
    />
  )
}

/** Maximum number of actions that a row names. */
const NAMED = 2

const Done = ({ row: { actions } }: { readonly row: Transaction }): Html =>
  actions.length === 0 ? (
    <None />
  ) : (
    <span class="what">
      {actions.slice(0, NAMED).map(({ contract, action_name }) => (
        <bdi class="line" safe>
          {`${shortened(visible(contract))} ${actionText(action_name)}`}
        </bdi>
      ))}
      {actions.length > NAMED && <small safe>{`+${actions.length - NAMED}`}</small>}
    </span>
  )
