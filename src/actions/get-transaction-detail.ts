import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findTransaction } from './find-transaction.ts'
import { hash } from './params.ts'
import { byName, count, described, exact, rowsOf, shape, text, txHash } from './results.ts'
import { transactionObject } from './transaction-object.ts'
import { actionRow, receiptRow } from './transaction-rows.ts'

const limit = shape({
  token: text('Name of the token, * for all.', '代币名称，* 表示全部。'),
  value: text('Most that may be taken, or unlimited.', '最多可动用的数量，或 unlimited。'),
})
const receipt = Type.Partial(
  shape({
    tx_hash: txHash(),
    gas_usage: exact('Gas paid.', '支付的 gas。'),
    ram_usage: byName(Type.String(), 'Bytes by payer, possibly negative.', '以付款者为键的字节数，可为负。'),
    status_code: text('SUCCESS, or why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
    message: text('What went wrong.', '错误信息。'),
    returns: rowsOf(
      Type.String(),
      'What each action returned, as JSON text.',
      '各方法的返回值（JSON 文本）。',
    ),
    receipts: rowsOf(receiptRow, 'The receipts.', '收据列表。'),
  }),
  { additionalProperties: false },
)
const transaction = shape({
  hash: txHash(),
  time: text('Time by its signer, nanoseconds since 1970.', '签名者给出的时间（1970 年起的纳秒数）。'),
  expiration: exact('Nanoseconds since 1970.', '过期时间（1970 年起的纳秒数）。'),
  gas_ratio: exact('Price of gas.', 'gas 倍率。'),
  gas_limit: exact('Most gas it may use.', 'gas 上限。'),
  delay: exact('Nanoseconds it is delayed.', '延迟（纳秒）。'),
  chain_id: count('Id of the chain.', '链 ID。'),
  actions: rowsOf(actionRow, 'The actions.', '方法列表。'),
  signers: rowsOf(Type.String(), 'Further signers, account@permission.', '其他签名者，账户@权限。'),
  publisher: text('The account that published it.', '发布者账户。'),
  referred_tx: text('The delayed transaction it carries out, or empty.', '所执行的延迟交易，没有时为空。'),
  amount_limit: rowsOf(limit, 'What it may take of its publisher.', '可动用的发布者资产上限。'),
  tx_receipt: described(receipt, 'Its receipt; {} while it is in the pool.', '交易收据；在交易池中时为 {}。'),
})

/** A transaction by its hash. */
export const getTransactionDetail = defineAction({
  module: 'transaction',
  action: 'get-transaction-detail',
  title: { en: 'Transaction', zh: '交易详情' },
  summary: {
    en: 'A transaction as the node gives it, with delay and expiration as numbers. What is not in a published block yet is answered by the followed node: status PENDING (in the pool, tx_receipt {}) or PACKED (in a block that may still be replaced), and block_number -1 until the block is irreversible.',
    zh: '节点给出的交易，其中 delay 与 expiration 为数字。尚未进入已发布区块的交易由所跟随的节点回答：status 为 PENDING（在交易池中，tx_receipt 为 {}）或 PACKED（在仍可能被替换的区块中），区块不可逆之前 block_number 为 -1。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: shape({
    status: text('PENDING, PACKED or IRREVERSIBLE.', 'PENDING、PACKED 或 IRREVERSIBLE。'),
    transaction: described(transaction, 'The transaction.', '交易。'),
    block_number: text('Number of its block, or -1.', '所在区块高度，或 -1。'),
  }),
  run: async (context, { tx_hash }) => {
    const { status, blockNumber, body } = await findTransaction(context, tx_hash)
    return { status, transaction: transactionObject(body), block_number: blockNumber }
  },
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})
