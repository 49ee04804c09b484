import { Type } from '@sinclair/typebox'
import { compactJson, Exact, memberSpans, RawJson, type TextSpan } from '#chain/json.ts'
import type { FoundTransaction } from '../find/block.ts'
import { byName, count, defineRows, described, exact, shape, text, txHash } from './results.ts'
import { plainNumber } from './values.ts'

/** Fields that the node writes as strings and the interface as numbers. */
const NUMBERS_IN_TEXT = new Set(['delay', 'expiration'])
const GAS = new Set(['gas_ratio', 'gas_limit', 'gas_usage'])

/**
 * The node's transaction object in the form of an answer. Its fields and their order, and every string, stay
 * unchanged. delay and expiration become numbers, and gas figures keep their digits. The receipt of a
 * transaction in the pool is `{}`.
 */
export const transactionObject = (body: string): ReadonlyMap<string, unknown> =>
  parseMembers(body, [0, body.length], (name, span) => {
    if (name !== 'tx_receipt') return parseField(body, name, span)
    return body.slice(...span) === 'null' ? {} : parseMembers(body, span, (key, at) => parseField(body, key, at))
  })

const parseMembers = (
  text: string,
  [from]: TextSpan,
  readField: (name: string, span: TextSpan) => unknown,
): ReadonlyMap<string, unknown> =>
  new Map([...memberSpans(text, from)].map(([name, span]) => [name, readField(name, span)]))

function parseField(body: string, name: string, span: TextSpan): unknown {
  const text = compactJson(body, span)
  if (NUMBERS_IN_TEXT.has(name)) return new Exact(text.replaceAll('"', ''))
  return GAS.has(name) ? new Exact(plainNumber(text)) : new RawJson(text)
}

export const actionRow = shape({
  contract: text('Contract.', '合约。'),
  action_name: text('Action name.', '方法名。'),
  data: text('Arguments, as the signer wrote them.', '参数（签名者提交的原文）。'),
})

export const receiptRow = shape({
  func_name: text('Contract and action that wrote the receipt.', '写入该收据的合约与方法。'),
  content: text('Content: JSON or any other text.', '内容：JSON 或其他任意文本。'),
})

const limit = shape({
  token: text('Token name; * means all tokens.', '代币名称，* 表示全部。'),
  value: text('Maximum amount that may be spent, or unlimited.', '允许动用的最大数量，或 unlimited。'),
})
const receipt = Type.Partial(
  shape({
    tx_hash: txHash(),
    gas_usage: exact('Gas paid.', '支付的 gas。'),
    ram_usage: byName(Type.String(), 'RAM bytes by payer; may be negative.', '以付款者为键的 RAM 字节数，可为负数。'),
    status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
    message: text('Error message.', '错误信息。'),
    returns: defineRows(Type.String(), 'Return value of each action, as JSON text.', '各方法的返回值（JSON 文本）。'),
    receipts: defineRows(receiptRow, 'Receipts.', '收据列表。'),
  }),
  { additionalProperties: false },
)
const transaction = shape({
  hash: txHash(),
  time: text('Time set by the signer, nanoseconds since 1970.', '签名者设置的时间（自 1970 年起的纳秒数）。'),
  expiration: exact('Expiration time, nanoseconds since 1970.', '过期时间（自 1970 年起的纳秒数）。'),
  gas_ratio: exact('Gas ratio.', 'gas 倍率。'),
  gas_limit: exact('Maximum gas the transaction may use.', 'gas 上限。'),
  delay: exact('Delay in nanoseconds.', '延迟时间（纳秒）。'),
  chain_id: count('Chain id.', '链 ID。'),
  actions: defineRows(actionRow, 'Actions.', '方法列表。'),
  signers: defineRows(Type.String(), 'Additional signers, as account@permission.', '其他签名者，格式为“账户@权限”。'),
  publisher: text('Account that published the transaction.', '发布者账户。'),
  referred_tx: text(
    'Hash of the delayed transaction that this transaction executes, or empty.',
    '所执行的延迟交易的哈希；没有时为空。',
  ),
  amount_limit: defineRows(
    limit,
    "Maximum amounts of the publisher's tokens that the transaction may spend.",
    '可动用的发布者代币上限。',
  ),
  tx_receipt: described(receipt, 'Receipt; {} while the transaction is in the pool.', '交易收据；在交易池中时为 {}。'),
})

/** Shape of get-transaction-detail and of an entry of get-transactions. */
export const transactionResult = shape({
  status: text('PENDING, PACKED or IRREVERSIBLE.', 'PENDING、PACKED 或 IRREVERSIBLE。'),
  transaction: described(transaction, 'Transaction.', '交易。'),
  block_number: text('Number of the block, or -1.', '所在区块高度，或 -1。'),
})

/** The answer of get-transaction-detail and an entry of get-transactions. */
export const transactionAnswer = ({ status, blockNumber, body }: FoundTransaction) => ({
  status,
  transaction: transactionObject(body),
  block_number: blockNumber,
})
