import { type TProperties, Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { balanceId, balances } from '#indices/balance.ts'
import type { Held } from '#indices/series-replay.ts'
import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { ownerOf } from './find/owner.ts'
import { momentOf } from './find/point.ts'
import { heldThenAll } from './find/series.ts'
import { wholeOf } from './list/paging.ts'
import { wholeOrder } from './list/whole-list.ts'
import { owner } from './request/parameter-types.ts'
import { checkPoint, point } from './request/point.ts'
import { count, listOfRows, rowsOf, shape, text } from './shape/results.ts'

const fields = {
  symbol: text('Name of the token.', '代币名称。'),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  frozen_balance: text(
    'Frozen balance that is not due yet, in token units.',
    '尚未到期的冻结余额（代币单位）。',
  ),
  full_name: text('Full name of the token.', '代币全名。'),
  decimal: count('Decimals of the token.', '代币小数位数。'),
}
const frozenList = () =>
  rowsOf(
    shape({
      amount: text('Amount, in token units.', '数量（代币单位）。'),
      time: text(
        'Time when the amount becomes available, nanoseconds since 1970.',
        '解冻时间（自 1970 年起的纳秒数）。',
      ),
    }),
    'Amounts still frozen, in the order they were received.',
    '仍处于冻结状态的金额，按收到的先后排列。',
  )

const listFor = <P extends TProperties>(row: P) =>
  listOfRows('tokens', shape(row), { en: 'Tokens.', zh: '代币列表。' })

const frozenOf = ({ list }: Pick<Held, 'list'>, decimal: number) =>
  list.map(([amount, time]) => ({ amount: fromUnits(BigInt(amount), decimal), time }))

/** The tokens an owner has. */
export const getTokenList = defineAction({
  module: 'account',
  action: 'get-token-list',
  title: { en: 'Tokens of an account', zh: '账户代币列表' },
  summary: {
    en: 'All tokens with an available or frozen balance above 0, sorted by symbol. The list is always complete. With at_block or at_time it is the list of that point. Also accepts contract ids, public keys that own tokens, and 0.',
    zh: '可用余额或冻结余额大于 0 的全部代币，按符号排列。始终返回完整列表。提供 at_block 或 at_time 时为当时的列表。也可查询合约 ID、持有代币的公钥和 0。',
  },
  params: Type.Object({ account: owner(), ...point }),
  check: checkPoint,
  result: listFor({ ...fields, frozen_list: frozenList() }),
  compatResult: listFor(fields),
  list: 'tokens',
  run: async (context, { account, ...asked }) => {
    const [name, then] = await Promise.all([ownerOf(context, account), momentOf(context, asked)])
    const held = await (then === undefined
      ? tokensNow(context.view, name)
      : tokensThen(context.view, name, then))
    const known = await context.view.getMany(
      tokens,
      held.map(({ token }) => token),
    )
    const rows = held.map((each, at) => {
      const decimal = known[at]?.decimal ?? 0
      return {
        symbol: each.token,
        balance: fromUnits(each.available, decimal),
        frozen_balance: fromUnits(each.frozen, decimal),
        full_name: known[at]?.full_name ?? '',
        decimal,
        ...(context.compat === 'iostabc' ? {} : { frozen_list: frozenOf(each, decimal) }),
      }
    })
    return wholeOf('tokens', rows)
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

type HeldToken = Held & { readonly token: string }

const tokensNow = async (view: View, owner: string): Promise<readonly HeldToken[]> => {
  const docs = await wholeOrder(view, { index: balances, order: 'ofOwner', group: owner })
  return docs.map(({ token, amount, frozen, frozen_list }) => ({
    token,
    available: amount,
    frozen,
    list: frozen_list,
  }))
}

/** Of every token that the owner ever had some of. */
const tokensThen = async (
  view: View,
  owner: string,
  { height }: { readonly height: number },
): Promise<readonly HeldToken[]> => {
  const docs = await wholeOrder(view, { index: balances, order: 'rowsOfOwner', group: owner })
  const held = await heldThenAll(
    view,
    docs.map(({ token }) => balanceId(token, owner)),
    height,
  )
  return docs
    .map(({ token }, at) => ({ ...(held[at] ?? NONE), token }))
    .filter(({ available, frozen }) => available > 0n || frozen > 0n)
}

const NONE: Held = { available: 0n, frozen: 0n, list: [] }
