import { type TProperties, Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import { tokens } from '#indices/token.ts'
import { defineAction } from './define.ts'
import { ownerOf } from './find/owner.ts'
import { wholeOf } from './list/paging.ts'
import { wholeOrder } from './list/whole-list.ts'
import { owner } from './request/parameter-types.ts'
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

const frozenOf = ({ frozen_list }: Pick<BalanceDoc, 'frozen_list'>, decimal: number) =>
  (frozen_list ?? []).map(([amount, time]) => ({ amount: fromUnits(BigInt(amount), decimal), time }))

/** The tokens an owner has. */
export const getTokenList = defineAction({
  module: 'account',
  action: 'get-token-list',
  title: { en: 'Tokens of an account', zh: '账户代币列表' },
  summary: {
    en: 'All tokens with an available or frozen balance above 0, sorted by symbol. The list is always complete. Also accepts contract ids, public keys that own tokens, and 0.',
    zh: '可用余额或冻结余额大于 0 的全部代币，按符号排列。始终返回完整列表。也可查询合约 ID、持有代币的公钥和 0。',
  },
  params: Type.Object({ account: owner() }),
  result: listFor({ ...fields, frozen_list: frozenList() }),
  compatResult: listFor(fields),
  list: 'tokens',
  run: async (context, { account }) => {
    const name = await ownerOf(context, account)
    const docs = await wholeOrder(context.view, { index: balances, order: 'ofOwner', group: name })
    const known = await context.view.getMany(
      tokens,
      docs.map(doc => doc.token),
    )
    const rows = docs.map((doc, at) => {
      const decimal = known[at]?.decimal ?? 0
      return {
        symbol: doc.token,
        balance: fromUnits(doc.amount, decimal),
        frozen_balance: fromUnits(doc.frozen, decimal),
        full_name: known[at]?.full_name ?? '',
        decimal,
        ...(context.compat === 'iostabc' ? {} : { frozen_list: frozenOf(doc, decimal) }),
      }
    })
    return wholeOf('tokens', rows)
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})
