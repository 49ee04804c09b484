import { fromUnits } from '#chain/amount.ts'
import { formatDate } from '#chain/time.ts'
import { seriesOf } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { tokenDayId, tokenDays } from '#indices/token-day.ts'
import type { Context } from '../define.ts'
import { endsOfDays } from './days.ts'
import type { RequestedDays } from './requested-days.ts'
import { NO_FLOWS, readFlows } from './series.ts'
import { unknown } from './unknown.ts'

/**
 * Amounts of a token moved, issued and destroyed on each day, with supply and number of holders at its end.
 * Throws 'not_found', 'loading'.
 */
export async function daysOfToken(context: Context, symbol: string, days: RequestedDays) {
  const { view } = context
  const found = await view.get(tokens, symbol)
  if (found === undefined) throw unknown(context, 'token', symbol)
  const ends = await endsOfDays(view, days)
  const dates = ends.slice(1).map((_end, at) => formatDate(days.from + at))
  const [moved, supply, holders] = await Promise.all([
    view.getMany(
      tokenDays,
      dates.map(date => tokenDayId(symbol, date)),
    ),
    readFlows(view, seriesOf.supply(symbol), ends),
    readFlows(view, seriesOf.holders(symbol), ends),
  ])
  const shown = (units: bigint): string => fromUnits(units, found.decimal)
  return dates.map((date, at) => {
    const [before = NO_FLOWS, after = NO_FLOWS] = [supply[at], supply[at + 1]]
    const held = holders[at + 1] ?? NO_FLOWS
    const doc = moved[at]
    return {
      date,
      complete: days.from + at < days.today,
      transfers: doc?.transfers ?? 0,
      volume: shown(BigInt(doc?.volume ?? 0)),
      issued: shown(after.gained - before.gained),
      destroyed: shown(after.lost - before.lost),
      supply: shown(after.gained - after.lost),
      holders: Number(held.gained - held.lost),
    }
  })
}
