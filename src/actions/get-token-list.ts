import { type TProperties, Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { heldTokens } from './find/holdings.ts'
import { resolveOwner } from './find/owner.ts'
import { findMoment } from './find/point.ts'
import { buildWholeList } from './list/paging.ts'
import { owner } from './request/parameter-types.ts'
import { checkPoint, point } from './request/range.ts'
import { type HeldTokenRow, heldTokenFields, heldTokenRows } from './shape/holdings.ts'
import { listOfRows, pointFields, pointShown, shape } from './shape/results.ts'

const { frozen_list: _, ...usual } = heldTokenFields

const defineTokenListResult = <P extends TProperties>(row: P) =>
  shape({
    ...listOfRows('tokens', shape(row), { en: 'Tokens.', zh: '代币列表。' }).properties,
    ...pointFields,
  })

/** The tokens that an owner has. */
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
  result: defineTokenListResult(heldTokenFields),
  compatResult: defineTokenListResult(usual),
  list: 'tokens',
  run: async (context, { account, ...asked }) => {
    const [name, then] = await Promise.all([resolveOwner(context, account), findMoment(context, asked)])
    const rows = await heldTokenRows(context.view, await heldTokens(context.view, name, then))
    const shown = context.compat === 'iostabc' ? rows.map(withoutList) : rows
    return { ...buildWholeList('tokens', shown, then && { heights: [then.height] }), ...pointShown(then) }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

const withoutList = ({ frozen_list: _, ...row }: HeldTokenRow) => row
