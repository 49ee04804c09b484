import type { LoadedBlock } from '#chain/block.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { dayDraft, settleDay } from './day.ts'
import { ledger } from './ledger.ts'
import { listCounts } from './list-counts.ts'
import type { Scope } from './scope.ts'
import type { State } from './state.ts'

const FIRST: StatisticsDoc = {
  id: STATISTICS,
  account_count: 0,
  contract_count: 0,
  token_count: 0,
  producer_count: 0,
  producer_votes: 0n,
  wealth_count: 0,
  list_count: 0,
  pledge_seq: 0,
  transaction_count: 0,
  record_count: 0,
  highest_tps: 0,
  tps_second: 0,
  tps_count: 0,
  ram: { left: '0', used: '0', balance: '0' },
  versions: [],
  genesis_publisher: '',
  genesis_tx: '',
  genesis_time: '0',
}

export const beginBlock = (state: State, { block, systemCode }: LoadedBlock, partition: number): Scope => {
  const figures = { ...(state.get(statistics, STATISTICS) ?? FIRST) }
  return {
    state,
    block,
    systemCode: new Map(systemCode.map(code => [code.id, code])),
    statistics: figures,
    day: dayDraft(),
    ledger: ledger(state, block),
    lists: listCounts(state, figures, partition),
    records: [],
  }
}

/** Ends a block: drafts become documents. */
export const settle = (scope: Scope): void => {
  scope.ledger.settle(scope.statistics)
  scope.lists.settle()
  settleDay(scope, scope.state.get(statistics, STATISTICS) ?? FIRST)
  scope.state.put(statistics, scope.statistics)
}
