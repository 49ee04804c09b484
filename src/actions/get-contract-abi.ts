import { Type } from '@sinclair/typebox'
import { contracts } from '#indices/contract.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/unknown.ts'
import { buildWholeList } from './list/paging.ts'
import { contract } from './request/parameter-types.ts'
import { defineRows, listOfRows, shape, text } from './shape/results.ts'

const limit = shape({
  token: text('Token name; * means all tokens.', '代币名称，* 表示全部。'),
  value: text('Maximum amount the action may spend, or unlimited.', '允许动用的最大数量，或 unlimited。'),
})
const row = shape({
  name: text('Name of the action.', '方法名。'),
  args: defineRows(
    Type.String(),
    'Argument types: string, number, bool, json.',
    '参数类型：string、number、bool、json。',
  ),
  amount_limit: defineRows(
    limit,
    "Maximum amounts of the caller's tokens that the action may spend.",
    '该方法可动用的调用者代币上限。',
  ),
})

/** The actions of a contract. */
export const getContractAbi = defineAction({
  module: 'contract',
  action: 'get-contract-abi',
  title: { en: 'Contract ABI', zh: '合约 ABI' },
  summary: {
    en: 'The actions a contract currently offers, in the order of its ABI. The list is always complete.',
    zh: '合约当前提供的方法（以最近一次更新为准），按 ABI 中的顺序排列。始终返回完整列表。',
  },
  params: Type.Object({ contract: contract() }),
  result: listOfRows('abis', row, { en: 'Actions.', zh: '方法列表。' }),
  list: 'abis',
  run: async (context, { contract: id }) => {
    const found = await context.view.get(contracts, id)
    if (found === undefined) throw unknown(context, 'contract', id)
    return buildWholeList(
      'abis',
      found.abis.map(({ name, args, amount_limit }) => ({ name, args, amount_limit })),
    )
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { contract: 'token.iost' },
})
