/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getBlockList } from '#actions/get-block-list.ts'
import { ownTransactions } from '../format/own-transactions.ts'
import { isoOf } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Count, Place } from './amount.tsx'
import { Name, Owner } from './name.tsx'
import { Rows } from './rows.tsx'
import { Ago } from './time.tsx'

/** A row of get-block-list. */
type BlockRow = AnswerOf<typeof getBlockList>['blocks'][number]

/** Blocks, a line each. */
export const BlockRows = ({
  visit,
  rows,
  live,
  isNarrow = false,
}: {
  readonly visit: Visit
  readonly rows: readonly BlockRow[]
  readonly live?: string
  /** There is room for the most important columns only. */
  readonly isNarrow?: boolean
}): Html => {
  const { say } = visit
  return (
    <Rows
      rows={rows}
      isNarrow={isNarrow}
      {...(live === undefined ? {} : { live })}
      none={say({ en: 'No blocks.', zh: '没有区块。' })}
      columns={[
        {
          head: say({ en: 'Block', zh: '区块' }),
          cell: row => <Name visit={visit} kind="block" id={row.number} />,
        },
        {
          head: say({ en: 'Time', zh: '时间' }),
          place: 'end',
          cell: row => <Ago visit={visit} iso={isoOf(row.time)} />,
        },
        {
          head: say({ en: 'Producer', zh: '生产者' }),
          cell: row => <Owner visit={visit} id={row.witness_account} />,
        },
        {
          head: isNarrow ? say({ en: 'Txs', zh: '交易数' }) : say({ en: 'Transactions', zh: '交易数' }),
          isNumber: true,
          cell: row => <Place value={ownTransactions(Number(row.number), row.tx_count)} />,
        },
        ...(isNarrow
          ? []
          : [{ head: 'Gas', isNumber: true, cell: (row: BlockRow) => <Count value={row.gas_usage} /> }]),
      ]}
    />
  )
}
