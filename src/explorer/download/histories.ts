import type { AnswerOf } from '#actions/ask.ts'
import { getBlockList } from '#actions/get-block-list.ts'
import { getContractList } from '#actions/get-contract-list.ts'
import { getSubaccountList } from '#actions/get-subaccount-list.ts'
import { getTransactionList } from '#actions/get-transaction-list.ts'
import { outcomeOf } from '../format/outcome.ts'
import { ownTransactions } from '../format/own-transactions.ts'
import { isoOf } from '../format/time.ts'
import { textCell } from './cell.ts'
import { listFile } from './list-file.ts'
import { column, numberCell, timeCell } from './table.ts'

/** Files of events, for any period. */

export const blockFile = listFile<AnswerOf<typeof getBlockList>['blocks'][number]>({
  ...{ path: '/blocks.csv', action: getBlockList, what: 'blocks', isOfTime: true },
  columns: () => [
    column('Block', '区块', row => numberCell(row.number)),
    column('Time (UTC)', '时间（UTC）', row => timeCell(isoOf(row.time))),
    column('Producer', '生产者', row => textCell(row.witness_account)),
    column('Transactions', '交易数', row => numberCell(ownTransactions(row.number, row.tx_count))),
    column('Gas', 'Gas', row => numberCell(row.gas_usage)),
    column('Hash', '哈希', row => row.hash),
  ],
})

export const transactionFile = listFile<AnswerOf<typeof getTransactionList>['transactions'][number]>({
  ...{ path: '/transactions.csv', action: getTransactionList, what: 'transactions', isOfTime: true },
  columns: ({ lang }) => [
    column('Time (UTC)', '时间（UTC）', row => timeCell(row.created_at)),
    column('Publisher', '发布者', row => textCell(row.publisher)),
    column('Contract', '合约', row => textCell(row.contract)),
    column('Action', '方法', row => textCell(row.action_name)),
    column('Actions', '方法数', row => numberCell(row.actions)),
    column('Status', '状态', row => textCell(outcomeOf(row.status_code)[lang])),
    column('Gas', 'Gas', row => numberCell(row.gas_fee)),
    column('Transaction', '交易', row => row.tx_hash),
    column('Block', '区块', row => numberCell(row.block)),
  ],
})

export const contractFile = listFile<AnswerOf<typeof getContractList>['contracts'][number]>({
  ...{ path: '/contracts.csv', action: getContractList, what: 'contracts', isOfTime: true },
  columns: () => [
    column('Contract', '合约', row => textCell(String(row.contract_id))),
    column('Deployed (UTC)', '部署时间（UTC）', row => timeCell(row.created_at)),
    column('Publisher', '部署者', row => textCell(row.publisher)),
    column('Records', '记录数', row => numberCell(row.records)),
    column('Transaction', '交易', row => row.tx_hash),
  ],
})

export const subAccountFile = listFile<AnswerOf<typeof getSubaccountList>['accounts'][number]>({
  ...{ path: '/account/{id}/sub-accounts.csv', action: getSubaccountList, of: 'account' },
  ...{ what: 'sub-accounts', isOfTime: true },
  columns: () => [
    column('Account', '账户', row => textCell(row.name)),
    column('Created (UTC)', '创建时间（UTC）', row => timeCell(row.created_at)),
    column('Transaction', '交易', row => row.tx_hash),
  ],
})
