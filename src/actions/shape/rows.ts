import { Type } from '@sinclair/typebox'
import { RawJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import type { Compat } from '../define.ts'
import { textsOf } from '../find/overflow.ts'
import { count, createdAt, described, shape, text, txHash } from './results.ts'

const data = described(
  Type.Union([Type.Array(Type.Unknown()), Type.String()]),
  'Arguments of the action, or content of the receipt of the movement, as an array. A text that is not a JSON array becomes an array of that one text. With compat=iostabc, the original text of the chain.',
  '方法参数或代币变动收据的内容，以数组表示；不是 JSON 数组的文本表示为只含该文本的数组。compat=iostabc 时为链上原文。',
)

/** A row of get-account-tx and get-contract-tx. */
export const recordRow = (contract: 'always' | 'compat') => {
  const word = text('Contract.', '合约。')
  return shape({
    contract: contract === 'always' ? word : Type.Optional(word),
    action_name: text('Action name.', '方法名。'),
    data,
    block: text('Block number (height).', '区块高度。'),
    tx_hash: txHash(),
    from: text('Sender or caller.', '转出方或调用方。'),
    to: text('Recipient or contract.', '转入方或被调用合约。'),
    created_at: createdAt(),
    index: count(
      'Position of the row in its transaction, starting at 0: first the actions, then other movements.',
      '在交易中的序号，从 0 开始：先是方法，然后是其他代币变动。',
    ),
    return: text(
      'Return value of the action; empty for other movements.',
      '方法的返回值；其他代币变动为空。',
    ),
    status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
    amount: Type.Optional(
      text(
        'Amount actually moved, in token units; only on rows of token.iost movements.',
        '实际变动的数量（代币单位）；仅出现在 token.iost 的变动记录中。',
      ),
    ),
  })
}

/** Rows as they are answered; `contract` says whether every row names its contract. */
export const rowsFrom = async (
  view: View,
  docs: readonly RecordDoc[],
  { contract, compat }: { readonly contract: 'always' | 'compat'; readonly compat: Compat },
): Promise<RawJson> => {
  const texts = await textsOf(view, docs)
  const named = contract === 'always' || compat === 'iostabc'
  const own = docs.map(doc => texts.get(doc.id) ?? doc)
  const isoOf = isoTimes()
  const rows = docs.map((doc, at) => ({
    contract: named ? own[at]?.contract : undefined,
    action_name: own[at]?.action_name,
    data: '',
    block: String(doc.height),
    tx_hash: doc.tx_hash,
    from: doc.from,
    to: doc.to,
    created_at: isoOf(doc.time),
    index: doc.index,
    return: own[at]?.return,
    status_code: doc.status_code,
    amount: doc.amount,
  }))
  const dataOf = compat === 'iostabc' ? (text: string) => JSON.stringify(text) : arrayText
  return new RawJson(
    withData(
      JSON.stringify(rows),
      own.map(({ data }) => dataOf(data)),
    ),
  )
}

const EMPTY_DATA = '"data":""'

/**
 * Puts the data of each row in its place: one native JSON.stringify of twenty rows takes an eighth of the time that a
 * writer of our own needs. Within a string of JSON the quotes of `EMPTY_DATA` would be escaped, so it stands only where a
 * row has its data.
 */
const withData = (rows: string, data: readonly string[]): string => {
  const [first = '', ...rest] = rows.split(EMPTY_DATA)
  let text = first
  for (const [at, part] of rest.entries()) text += `"data":${data[at]}${part}`
  return text
}

/** `toIso` for rows of which those beside each other often share a time. */
const isoTimes = () => {
  let last: { readonly time: bigint; readonly iso: string } | undefined
  return (time: bigint): string => {
    if (last?.time !== time) last = { time, iso: toIso(time) }
    return last.iso
  }
}

/** The chain's text as an array: inserted unchanged, so that every number keeps its digits. */
const arrayText = (text: string): string => {
  try {
    if (Array.isArray(JSON.parse(text))) return text
  } catch {
    // Any text is legal here (system.iost/receipt): it is given as it is.
  }
  return `[${JSON.stringify(text)}]`
}
