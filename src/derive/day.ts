import { isBase } from '#chain/base-transaction.ts'
import { hasFailed } from '#chain/effects.ts'
import { formatDate, toDay } from '#chain/time.ts'
import { days, EMPTY_DAY } from '#indices/day.ts'
import type { StatisticsDoc } from '#indices/statistics.ts'
import { tokenDayId, tokenDays } from '#indices/token-day.ts'
import type { DayDraft, Scope } from './scope.ts'
import type { Movement } from './token.ts'

export const dayDraft = (): DayDraft => ({ movements: 0, moved: 0n, ramFees: 0n, transfers: new Map() })

/** Counts a row that moved a token. */
export function countMovement({ day }: Scope, { token, amount, from, to }: Movement): void {
  day.movements += 1
  if (token === 'iost') day.moved += amount
  if (from === '' || to === '') return
  const of = day.transfers.get(token)
  if (of === undefined) day.transfers.set(token, { count: 1, volume: amount })
  else {
    of.count += 1
    of.volume += amount
  }
}

/** Writes the day of the block after the statistics were counted; `before`: those at the block's start. */
export function settleDay(
  { state, block, day, statistics: now }: Pick<Scope, 'state' | 'block' | 'day' | 'statistics'>,
  before: StatisticsDoc,
): void {
  const id = formatDate(toDay(block.time))
  const { movements, moved, ramFees } = day
  const known = state.get(days, id) ?? {
    id,
    ...EMPTY_DAY,
    ram: { left: '0', used: '0', balance: '0' },
    votes: 0n,
  }
  let [failed, actions, gas] = [known.failed, known.actions, known.gas_usage]
  block.transactions.forEach((tx, position) => {
    gas += tx.receipt.gasUsage
    if (isBase(block, position)) return
    actions += tx.actions.length
    if (hasFailed(tx)) failed += 1
  })
  state.put(days, {
    id,
    blocks: known.blocks + 1,
    transactions: known.transactions + now.transaction_count - before.transaction_count,
    failed,
    actions,
    movements: known.movements + movements,
    new_accounts: known.new_accounts + now.account_count - before.account_count,
    new_contracts: known.new_contracts + now.contract_count - before.contract_count,
    gas_usage: gas,
    iost_moved: moved === 0n ? known.iost_moved : String(BigInt(known.iost_moved) + moved),
    ram_fees: known.ram_fees + ramFees,
    ram: now.ram,
    votes: now.producer_votes,
    highest_tps: Math.max(known.highest_tps, now.tps_count),
  })
}

export function settleTokenDays({ state, block, day }: Scope): void {
  const date = formatDate(toDay(block.time))
  for (const [token, { count, volume }] of day.transfers) {
    const id = tokenDayId(token, date)
    const known = state.get(tokenDays, id)
    state.put(tokenDays, {
      id,
      transfers: (known?.transfers ?? 0) + count,
      volume: String(BigInt(known?.volume ?? 0) + volume),
    })
  }
}
