/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getBlockList } from '#actions/get-block-list.ts'
import { ownTransactions } from '../format/own-transactions.ts'
import { isoOf } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Count, Place } from './amount.tsx'
import { Name, Owner } from './name.tsx'
import { type Column, Rows } from './rows.tsx'
import { Ago } from './time.tsx'

/** A row of get-block-list. */
type BlockRow = AnswerOf<typeof getBlockList>['blocks'][number]

/** A table of blocks. */
export const BlockRows = ({
  visit,
  rows,
  live,
  isNarrow = false,
}: {
  readonly visit: Visit
  readonly rows: readonly BlockRow[]
  readonly live?: string
  /** Whether to show only the most important columns. */
  readonly isNarrow?: boolean
}): Html => {
  const gas: Column<BlockRow> = ['Gas', 'Gas', row => <Count value={row.gas_usage} />, { isNumber: true }]
  return (
    <Rows
      visit={visit}
      rows={rows}
      isNarrow={isNarrow}
      {...(live === undefined ? {} : { live })}
      none={{ en: 'No blocks.', zh: '没有区块。' }}
      columns={[
        ['Block', '区块', row => <Name visit={visit} kind="block" id={row.number} />],
        ['Time', '时间', row => <Ago visit={visit} iso={isoOf(row.time)} />, { place: 'end' }],
        ['Producer', '生产者', row => <Owner visit={visit} id={row.witness_account} />],
        [
          isNarrow ? 'Txs' : 'Transactions',
          '交易数',
          row => <Place value={ownTransactions(Number(row.number), row.tx_count)} />,
          { isNumber: true },
        ],
        ...(isNarrow ? [] : [gas]),
      ]}
    />
  )
}
