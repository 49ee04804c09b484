import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findTransaction } from './find/transaction.ts'
import { hash } from './request/parameter-types.ts'
import { byName, count, described, exact, rowsOf, shape, text, txHash } from './shape/results.ts'
import { transactionObject } from './shape/transaction-object.ts'
import { actionRow, receiptRow } from './shape/transaction-rows.ts'

const limit = shape({
  token: text('Token name; * means all tokens.', '代币名称，* 表示全部。'),
  value: text('Maximum amount that may be spent, or unlimited.', '允许动用的最大数量，或 unlimited。'),
})
const receipt = Type.Partial(
  shape({
    tx_hash: txHash(),
    gas_usage: exact('Gas paid.', '支付的 gas。'),
    ram_usage: byName(
      Type.String(),
      'RAM bytes by payer; may be negative.',
      '以付款者为键的 RAM 字节数，可为负数。',
    ),
    status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
    message: text('Error message.', '错误信息。'),
    returns: rowsOf(
      Type.String(),
      'Return value of each action, as JSON text.',
      '各方法的返回值（JSON 文本）。',
    ),
    receipts: rowsOf(receiptRow, 'Receipts.', '收据列表。'),
  }),
  { additionalProperties: false },
)
const transaction = shape({
  hash: txHash(),
  time: text('Time set by the signer, nanoseconds since 1970.', '签名者设置的时间（自 1970 年起的纳秒数）。'),
  expiration: exact('Expiration time, nanoseconds since 1970.', '过期时间（自 1970 年起的纳秒数）。'),
  gas_ratio: exact('Gas price.', 'gas 倍率。'),
  gas_limit: exact('Maximum gas the transaction may use.', 'gas 上限。'),
  delay: exact('Delay in nanoseconds.', '延迟时间（纳秒）。'),
  chain_id: count('Chain id.', '链 ID。'),
  actions: rowsOf(actionRow, 'Actions.', '方法列表。'),
  signers: rowsOf(
    Type.String(),
    'Additional signers, as account@permission.',
    '其他签名者，格式为“账户@权限”。',
  ),
  publisher: text('Account that published the transaction.', '发布者账户。'),
  referred_tx: text(
    'Hash of the delayed transaction that this transaction executes, or empty.',
    '所执行的延迟交易的哈希；没有时为空。',
  ),
  amount_limit: rowsOf(
    limit,
    "Maximum amounts of the publisher's tokens that the transaction may spend.",
    '可动用的发布者代币上限。',
  ),
  tx_receipt: described(
    receipt,
    'Receipt; {} while the transaction is in the pool.',
    '交易收据；在交易池中时为 {}。',
  ),
})

/** A transaction by its hash. */
export const getTransactionDetail = defineAction({
  module: 'transaction',
  action: 'get-transaction-detail',
  title: { en: 'Transaction', zh: '交易详情' },
  summary: {
    en: 'A transaction as a node returns it, but with delay and expiration as numbers. A transaction that is not in a published block yet is read from the connected node: its status is PENDING (in the pool, tx_receipt is {}) or PACKED (in a block that may still be replaced), and block_number is -1 until its block is irreversible. PENDING and PACKED, with the receipt, are as that node reports them.',
    zh: '与全节点返回的交易一致，但 delay 与 expiration 为数字。尚未进入已发布区块的交易从所连接的全节点读取：status 为 PENDING（在交易池中，tx_receipt 为 {}）或 PACKED（在仍可能被替换的区块中），在区块不可逆之前 block_number 为 -1。PENDING 与 PACKED 状态及其收据以该全节点的返回为准。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: shape({
    status: text('PENDING, PACKED or IRREVERSIBLE.', 'PENDING、PACKED 或 IRREVERSIBLE。'),
    transaction: described(transaction, 'Transaction.', '交易。'),
    block_number: text('Number of the block, or -1.', '所在区块高度，或 -1。'),
  }),
  run: async (context, { tx_hash }) => {
    const { status, blockNumber, body } = await findTransaction(context, tx_hash)
    return { status, transaction: transactionObject(body), block_number: blockNumber }
  },
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})
