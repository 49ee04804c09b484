import { Type } from '@sinclair/typebox'
import { contracts } from '#indices/contract.ts'
import { defineAction } from './define.ts'
import { wholeOf } from './paging.ts'
import { contract } from './params.ts'
import { listOfRows, rowsOf, shape, text } from './results.ts'
import { unknown } from './unknown.ts'

const limit = shape({
  token: text('Name of the token, * for all.', '代币名称，* 表示全部。'),
  value: text('Most that may be taken, or unlimited.', '最多可动用的数量，或 unlimited。'),
})
const row = shape({
  name: text('Name of the action.', '方法名。'),
  args: rowsOf(
    Type.String(),
    'Types of its arguments: string, number, bool, json.',
    '参数类型：string、number、bool、json。',
  ),
  amount_limit: rowsOf(limit, 'What it may take of its caller.', '它可动用的调用者资产上限。'),
})

/** What a contract offers. */
export const getContractAbi = defineAction({
  module: 'contract',
  action: 'get-contract-abi',
  title: { en: 'Contract ABI', zh: '合约 ABI' },
  summary: {
    en: 'The actions a contract offers now, after its last update, in its own order. The list is always whole.',
    zh: '合约当前（最后一次更新之后）提供的方法，按其自身顺序。列表总是完整的。',
  },
  params: Type.Object({ contract: contract() }),
  result: listOfRows('abis', row, 'The actions.', '方法列表。'),
  list: 'abis',
  run: async (context, { contract: id }) => {
    const found = await context.view.get(contracts, id)
    if (found === undefined) throw unknown(context, 'contract', id)
    return wholeOf(
      'abis',
      found.abis.map(({ name, args, amount_limit }) => ({ name, args, amount_limit })),
    )
  },
  example: { contract: 'token.iost' },
})
