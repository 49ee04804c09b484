import { Type } from '@sinclair/typebox'
import type { StatisticsDoc } from '#indices/statistics.ts'
import { count, isDayOver, shape, sourcedCount, text, utcDay } from './results.ts'
import { toDouble } from './values.ts'

/** Accounts sell RAM to ram.iost at balance ÷ left, and buy it at 2 % more (chain rule, `ram.js`). */
const BUY_FACTOR = 1.02

/** Prices in IOST per byte. Doubles, in the chain's own order of operations (`ram.js`, `ram_handler.go`). */
export function computeRamPrices(ram: Pick<StatisticsDoc['ram'], 'left' | 'balance'>) {
  const left = Number(ram.left)
  const balance = Number(ram.balance)
  return { ram_buy_price: toDouble((BUY_FACTOR * balance) / left), ram_sell_price: toDouble(balance / left) }
}

/** The row of a token's day. */
export const tokenDayRow = shape({
  date: utcDay,
  complete: isDayOver,
  transfers: count(
    'Only with token: transfers and transferFreezes of it.',
    '仅在使用 token 时返回：该代币的 transfer 与 transferFreeze 次数。',
  ),
  volume: text(
    'Only with token: amount that these moved, in token units.',
    '仅在使用 token 时返回：上述转账的总额（代币单位）。',
  ),
  issued: text('Only with token: issued, in token units.', '仅在使用 token 时返回：发行数量（代币单位）。'),
  destroyed: text('Only with token: destroyed, in token units.', '仅在使用 token 时返回：销毁数量（代币单位）。'),
  supply: text(
    'Only with token: supply at the end of the day, in token units.',
    '仅在使用 token 时返回：当日结束时的供应量（代币单位）。',
  ),
  holders: count(
    'Only with token: owners with an available balance above 0 at the end of the day.',
    '仅在使用 token 时返回：当日结束时可用余额大于 0 的持有者数量。',
  ),
})

/** The row of an account's day. */
export const accountDayRow = shape({
  date: utcDay,
  complete: isDayOver,
  in: text(
    'Only with account: sum of all increases of its balance, in token units.',
    '仅在使用 account 时返回：余额增加的合计（代币单位）。',
  ),
  out: text(
    'Only with account: sum of all decreases of its balance, without the sign, in token units.',
    '仅在使用 account 时返回：余额减少的合计，不带负号（代币单位）。',
  ),
  movements_in: count(
    'Only with account: number of changes that are summed up in `in`.',
    '仅在使用 account 时返回：in 所合计的变动次数。',
  ),
  movements_out: count(
    'Only with account: number of changes that are summed up in `out`.',
    '仅在使用 account 时返回：out 所合计的变动次数。',
  ),
  counterparties: sourcedCount(
    'Only with account: how many others it moved the token from or to. null: not counted, see reason.',
    '仅在使用 account 时返回：与其转移该代币的其他地址数量。null 表示未统计，见 reason。',
  ),
  reason: Type.Optional(
    text(
      'Only where counterparties is null: too_many, since the days asked for have more than 10,000 movements together, or more than 256 with long texts; ask for fewer days.',
      '仅在 counterparties 为 null 时出现：too_many，表示所查日期合计超过 10,000 次变动，或含长文本的变动超过 256 次；请减少天数。',
    ),
  ),
})
