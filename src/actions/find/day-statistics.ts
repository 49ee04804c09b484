import { formatUnits } from '#chain/amount.ts'
import { formatDate } from '#chain/time.ts'
import { balanceId } from '#indices/balance.ts'
import { listOf, lists } from '#indices/list.ts'
import type { ListedRecord } from '#indices/record.ts'
import { seriesOf } from '#indices/series.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { tokenDayId, tokenDays } from '#indices/token-day.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { type RequestedDays, sumDayEnds } from './days.ts'
import { unknown } from './loading.ts'
import { countRangeRows } from './numbered.ts'
import { requireNamed, resolveOwner } from './owner.ts'
import { extractParties, readBodies, readRowTexts } from './record-texts.ts'
import { NO_FLOWS, readFlows } from './series.ts'

/** Maximum number of rows read to count counterparties: a tenth of a second of work. */
const MAX_ROWS = 10_000
/** Maximum number of rows among them with long texts: 16 MB, the limit of a page. */
const MAX_LONG = 256
/** Number of rows per read; few enough that their long texts fit in memory. */
const AT_ONCE = 500

/** What an account received and sent of a token on each day, and from how many. Throws 'not_found', 'loading'. */
export async function readAccountDays(
  context: Context,
  { account, symbol }: { readonly account: string; readonly symbol: string },
  days: RequestedDays,
) {
  const { view } = context
  const [name, found] = await Promise.all([resolveOwner(context, account), view.get(tokens, symbol)])
  if (found === undefined) throw unknown(context, 'token', symbol)
  const ends = await sumDayEnds(view, days)
  const [flows, others] = await Promise.all([
    readFlows(view, seriesOf.balance(balanceId(symbol, name)), ends),
    readCounterparties(context, { name, symbol }, ends),
  ])
  const shown = (units: bigint): string => formatUnits(units, found.decimal)
  return ends.slice(1).map((_end, at) => {
    const [before = NO_FLOWS, after = NO_FLOWS] = [flows[at], flows[at + 1]]
    return {
      date: formatDate(days.from + at),
      complete: days.from + at < days.today,
      in: shown(after.gained - before.gained),
      out: shown(after.lost - before.lost),
      movements_in: after.gains - before.gains,
      movements_out: after.losses - before.losses,
      ...(others === undefined
        ? { counterparties: null, reason: 'too_many' }
        : { counterparties: others[at]?.size ?? 0 }),
    }
  })
}

type Balance = { readonly name: string; readonly symbol: string }

/** The counterparties of an owner in each interval between two heights; undefined: in more rows than may be read. */
async function readCounterparties(
  { view, clock, signal }: Pick<Context, 'view' | 'clock' | 'signal'>,
  { name, symbol }: Balance,
  ends: readonly number[],
): Promise<readonly ReadonlySet<string>[] | undefined> {
  const days = ends.slice(1).map(() => new Set<string>())
  const list = await view.get(lists, listOf.moved(name, symbol))
  const [first = 0, last = 0] = [ends[0], ends.at(-1)]
  if (list === undefined || last <= first) return days
  const { before, total } = await countRangeRows(
    view,
    { count: list.count, moments: (reading, ordinals) => reading.moments(list, ordinals) },
    { start_block: BigInt(first + 1), end_block: BigInt(last) },
  )
  if (total > MAX_ROWS) return undefined
  let [day, long] = [0, 0]
  for (let from = before + 1; from <= before + total; from += AT_ONCE) {
    const docs = await view.records(list, from, Math.min(from + AT_ONCE - 1, before + total))
    long += docs.reduce((sum, { overflow }) => sum + Number(overflow), 0)
    if (long > MAX_LONG) return undefined
    for (const { height, others } of await readDealings(view, docs, name)) {
      day = findDayIndex(height, ends, day)
      for (const other of others) days[day]?.add(other)
    }
    // A store that answers synchronously does not yield to the event loop.
    await clock.sleep(0, signal)
  }
  return days
}

/** Index, from `from` on, of the day with a height; the last day if a repair has moved the row beyond it meanwhile. */
function findDayIndex(height: number, ends: readonly number[], from: number): number {
  const later = ends.findIndex((end, at) => at > from && height <= end)
  return later < 0 ? ends.length - 2 : later - 1
}

/** The counterparties of an owner in some rows. */
async function readDealings(view: View, docs: readonly ListedRecord[], name: string) {
  const texts = await readRowTexts(each => readBodies(view, each), docs, { budget: Infinity })
  return docs.map(doc => {
    const { from, to } = extractParties(texts.get(doc.id) ?? doc)
    return { height: doc.height, others: [from, to].filter(other => other !== '' && other !== name) }
  })
}

/** What moved of a token on each day, with supply and number of holders then. Throws 'not_found', 'loading'. */
export async function readTokenDays(context: Context, symbol: string, days: RequestedDays) {
  const { view } = context
  const found = await requireNamed(context, 'token', symbol)
  const ends = await sumDayEnds(view, days)
  const dates = ends.slice(1).map((_end, at) => formatDate(days.from + at))
  const [moved, supplies] = await Promise.all([
    view.getMany(
      tokenDays,
      dates.map(date => tokenDayId(symbol, date)),
    ),
    readSupplies(view, found, ends),
  ])
  return supplies.map((supply, at) => ({
    date: formatDate(days.from + at),
    complete: days.from + at < days.today,
    transfers: moved[at]?.transfers ?? 0,
    volume: formatUnits(BigInt(moved[at]?.volume ?? 0), found.decimal),
    ...supply,
  }))
}

/** What was issued and destroyed of a token from each height to the next, and supply and number of holders then. */
export async function readSupplies(
  view: View,
  { symbol, decimal }: Pick<TokenDoc, 'symbol' | 'decimal'>,
  heights: readonly number[],
) {
  const [supply, holders] = await Promise.all([
    readFlows(view, seriesOf.supply(symbol), heights),
    readFlows(view, seriesOf.holders(symbol), heights),
  ])
  const shown = (units: bigint): string => formatUnits(units, decimal)
  return heights.slice(1).map((_height, at) => {
    const [before = NO_FLOWS, after = NO_FLOWS, held = NO_FLOWS] = [supply[at], supply[at + 1], holders[at + 1]]
    return {
      issued: shown(after.gained - before.gained),
      destroyed: shown(after.lost - before.lost),
      supply: shown(after.gained - after.lost),
      holders: Number(held.gained - held.lost),
    }
  })
}
