import { unitsAsRead } from '#chain/amount.ts'
import { findContribution, type Paid } from '#chain/base-transaction.ts'
import type { Block } from '#chain/block.ts'
import { type BalanceDoc, balanceId, balances } from '#indices/balance.ts'
import type { BlockDoc } from '#indices/block.ts'
import { SEGMENT_SIZES } from '#indices/segment.ts'
import { type SeriesDoc, series, seriesOf } from '#indices/series.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { blockDocument, countBlock, countTransactions } from './block-document.ts'
import { dayDraft, settleDay } from './day.ts'
import { withContribute } from './series.ts'
import type { State } from './state.ts'

const CONTRIBUTE = 'contribute'
const SUPPLY = seriesOf.supply(CONTRIBUTE)

/**
 * Derives a quiet block, in which only the witness of its parent is paid: most blocks of the chain. Returns
 * its document and writes its changes to the state. The result is that of `deriveAnyBlock`, at a quarter of
 * the cost. undefined: the block is not quiet, or its payment changes more than amounts; nothing was written
 * then.
 */
export function deriveQuietBlock(block: Block, state: State): BlockDoc | undefined {
  const paid = findContribution(block)
  if (paid === undefined) return undefined
  const before = state.get(statistics, STATISTICS)
  if (before === undefined) return undefined
  const contribute = planContribute(state, block, paid)
  if (contribute === undefined) return undefined
  const document = blockDocument({ state, block })
  const figures = { ...before }
  state.put(tokens, contribute.token)
  state.put(balances, contribute.balance)
  for (const part of contribute.parts) state.put(series, part)
  countBlock({ state }, document)
  countTransactions({ block, statistics: figures }, 0)
  settleDay({ state, block, day: dayDraft(), statistics: figures }, before)
  state.put(statistics, figures)
  return document
}

/** Documents of the token contribute after a payment. */
type Contribute = {
  readonly token: TokenDoc
  readonly balance: BalanceDoc
  readonly parts: readonly SeriesDoc[]
}

/**
 * undefined: the receiver had none before, a part of a series is full, or the payment affects the segments of
 * a ranking.
 */
function planContribute(state: State, { height }: Block, { to, amount }: Paid): Contribute | undefined {
  const id = balanceId(CONTRIBUTE, to)
  const token = state.get(tokens, CONTRIBUTE)
  const balance = state.get(balances, id)
  if (token === undefined || balance === undefined || balance.amount <= 0n) return undefined
  const change = unitsAsRead(amount, token.decimal) ?? 0n
  if (change === 0n || token.holder_count > SEGMENT_SIZES.group) return undefined
  const supply = withContribute(state.get(series, SUPPLY), height, change)
  const past = withContribute(state.get(series, seriesOf.balance(id)), height, change)
  if (supply === undefined || past === undefined) return undefined
  return {
    token: { ...token, current_supply: token.current_supply + change },
    balance: { ...balance, amount: balance.amount + change },
    parts: [supply, past],
  }
}
