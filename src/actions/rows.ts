import { Type } from '@sinclair/typebox'
import { RawJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import type { Compat } from './define.ts'
import { textsOf } from './overflow.ts'
import { count, createdAt, described, shape, text, txHash } from './results.ts'

const data = described(
  Type.Union([Type.Array(Type.Unknown()), Type.String()]),
  "Arguments of the action or content of the movement's receipt: an array; text that is no JSON array is an array of that one text. With compat=iostabc the chain's own text.",
  '方法参数或资产变动收据的内容：数组；不是 JSON 数组的文本成为只含该文本的数组。compat=iostabc 时为链上的原文。',
)

/** A row of get-account-tx and get-contract-tx. */
export const recordRow = (contract: 'always' | 'compat') => {
  const word = text('Contract.', '合约。')
  return shape({
    contract: contract === 'always' ? word : Type.Optional(word),
    action_name: text('Name of the action.', '方法名。'),
    data,
    block: text('Number of the block.', '区块高度。'),
    tx_hash: txHash(),
    from: text('Who gives or acts.', '发出方。'),
    to: text('Who gets or is acted upon.', '接收方。'),
    created_at: createdAt(),
    index: count(
      'Number of the row in its transaction: actions first, from 0, then other movements.',
      '在交易中的序号：先是方法（从 0 起），然后是其他资产变动。',
    ),
    return: text('What the action returned; empty for other movements.', '方法的返回值；其他资产变动为空。'),
    status_code: text('SUCCESS, or why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
    amount: Type.Optional(
      text(
        'What really moved, in token units; on rows of token.iost movements.',
        '实际变动的数量（代币单位）；仅 token.iost 的变动记录有。',
      ),
    ),
  })
}

/** Rows as they are answered; `contract` says whether every row names its contract. */
export const rowsFrom = async (
  view: View,
  docs: readonly RecordDoc[],
  { contract, compat }: { readonly contract: 'always' | 'compat'; readonly compat: Compat },
): Promise<readonly unknown[]> => {
  const texts = await textsOf(view, docs)
  const named = contract === 'always' || compat === 'iostabc'
  return docs.map(doc => {
    const own = texts.get(doc.id) ?? doc
    return {
      contract: named ? own.contract : undefined,
      action_name: own.action_name,
      data: compat === 'iostabc' ? own.data : arrayOf(own.data),
      block: String(doc.height),
      tx_hash: doc.tx_hash,
      from: doc.from,
      to: doc.to,
      created_at: toIso(doc.time),
      index: doc.index,
      return: own.return,
      status_code: doc.status_code,
      amount: doc.amount,
    }
  })
}

/** The chain's text as an array: spliced as it stands, so that every number keeps its digits. */
const arrayOf = (text: string): RawJson | readonly string[] => {
  try {
    if (Array.isArray(JSON.parse(text))) return new RawJson(text)
  } catch {
    // Any text is legal here (system.iost/receipt): it is shown as it is.
  }
  return [text]
}
