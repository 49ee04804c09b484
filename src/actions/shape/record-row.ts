import { type TArray, type TUnknown, Type } from '@sinclair/typebox'
import type { Compat } from '../define.ts'
import { headFields } from './head-status.ts'
import { count, createdAt, described, irreversibleSeq, listOfRows, shape, text, txHash } from './results.ts'

/** Programs of ours read rows without `compat`, so their type is the array. */
const data = (compat: Compat) =>
  described(
    (compat === 'iostabc' ? Type.String() : Type.Array(Type.Unknown())) as TArray<TUnknown>,
    'Arguments of the action, or content of the receipt of the movement, as an array. A text that is not a JSON array becomes an array of that one text. With compat=iostabc, the original text of the chain.',
    '方法参数或代币变动收据的内容，以数组表示；不是 JSON 数组的文本表示为只含该文本的数组。compat=iostabc 时为链上原文。',
  )

/** Fields that every row of a record has. */
const recordFields = (compat: Compat) => ({
  action_name: text('Action name.', '方法名。'),
  data: data(compat),
  block: text('Block number (height).', '区块高度。'),
  tx_hash: txHash(),
  from: text('Sender or caller.', '转出方或调用方。'),
  to: text('Recipient or contract.', '转入方或被调用合约。'),
  created_at: createdAt(),
  index: count(
    'Position of the row in its transaction, starting at 0: first the actions, then other movements.',
    '在交易中的序号，从 0 开始：先是方法，然后是其他代币变动。',
  ),
  return: text('Return value of the action; empty for other movements.', '方法的返回值；其他代币变动为空。'),
  status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
  amount: Type.Optional(
    text(
      'Amount actually moved, in token units; only on rows of token.iost movements.',
      '实际变动的数量（代币单位）；仅出现在 token.iost 的变动记录中。',
    ),
  ),
})

const contractField = () => text('Contract.', '合约。')

/** A row of get-account-tx, get-contract-tx and get-token-tx; the contract is named always, or only with `compat=iostabc`. */
const recordRow = (contract: 'always' | 'compat', compat: Compat) => {
  const named = contract === 'always' || compat === 'iostabc' ? { contract: contractField() } : {}
  return shape({
    ...(compat === 'iostabc' ? {} : { seq: irreversibleSeq() }),
    ...headFields(),
    ...named,
    ...recordFields(compat),
  })
}

/** The answers of an action that lists records, also with `compat=iostabc`. */
export const recordLists = (contract: 'always' | 'compat') => {
  const listFor = (compat: Compat) =>
    listOfRows('transactions', recordRow(contract, compat), { en: 'Records of this page.', zh: '记录列表。' })
  return { result: listFor('none'), compatResult: listFor('iostabc') }
}

/** The answers of get-transaction-records. */
export const transactionRecords = () => {
  const listFor = (compat: Compat) =>
    listOfRows(
      'records',
      shape({
        status: text(
          'PACKED while the block of the transaction may still be replaced, otherwise IRREVERSIBLE.',
          '交易所在区块仍可能被替换时为 PACKED，否则为 IRREVERSIBLE。',
        ),
        contract: contractField(),
        ...recordFields(compat),
      }),
      { en: 'Records.', zh: '记录列表。' },
    )
  return { result: listFor('none'), compatResult: listFor('iostabc') }
}
