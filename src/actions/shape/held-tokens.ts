import { fromUnits } from '#chain/amount.ts'
import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'
import type { HeldToken } from '../find/held-tokens.ts'
import { count, defineRows, shape, text } from './results.ts'

/** Fields of a row about an owner's amounts of a token. */
export const heldTokenFields = {
  symbol: text('Name of the token.', '代币名称。'),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  frozen_balance: text('Frozen balance that is not due yet, in token units.', '尚未到期的冻结余额（代币单位）。'),
  full_name: text('Full name of the token.', '代币全名。'),
  decimal: count('Decimals of the token.', '代币小数位数。'),
  frozen_list: defineRows(
    shape({
      amount: text('Amount, in token units.', '数量（代币单位）。'),
      time: text(
        'Time when the amount becomes available, nanoseconds since 1970.',
        '解冻时间（自 1970 年起的纳秒数）。',
      ),
    }),
    'Amounts still frozen, in the order they were received.',
    '仍处于冻结状态的金额，按收到的先后排列。',
  ),
}

/** Rows about the tokens that an owner has. */
export async function heldTokenRows(view: View, held: readonly HeldToken[]) {
  const ids = held.map(({ token }) => token)
  const known = await view.getMany(tokens, ids)
  return held.map(({ token, available, frozen, list }, at) => {
    const { decimal = 0, full_name = '' } = known[at] ?? {}
    return {
      symbol: token,
      balance: fromUnits(available, decimal),
      frozen_balance: fromUnits(frozen, decimal),
      full_name,
      decimal,
      frozen_list: list.map(([amount, time]) => ({ amount: fromUnits(BigInt(amount), decimal), time })),
    }
  })
}

export type HeldTokenRow = Awaited<ReturnType<typeof heldTokenRows>>[number]
