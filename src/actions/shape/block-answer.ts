import { Type } from '@sinclair/typebox'
import { RawJson } from '#chain/json.ts'
import type { FoundBlock } from '../find/block.ts'
import { count, described, exact, shape, text } from './results.ts'
import { toGas, toTime } from './values.ts'

/** Shape of get-block-detail and get-latest-block. */
export const blockResult = shape({
  block: described(
    shape({
      hash: text('Hash of the block.', '区块哈希。'),
      version: text('Version of the block.', '区块版本。'),
      parent_hash: text('Hash of the parent block; empty for block 0.', '父区块的哈希；区块 0 时为空。'),
      tx_merkle_hash: text('Merkle root of the transactions.', '交易默克尔根。'),
      tx_receipt_merkle_hash: text('Merkle root of the receipts.', '收据默克尔根。'),
      number: count('Block number (height).', '区块高度。'),
      witness: text('Public key that signed the block.', '签名公钥。'),
      time: exact('Time of the block, nanoseconds since 1970.', '区块时间（自 1970 年起的纳秒数）。'),
      gas_usage: exact('Total gas paid by the transactions of the block.', '区块内所有交易支付的 gas 总量。'),
      tx_count: text('Number of transactions, including the base transaction.', '交易数（含 base 交易）。'),
      info: described(
        Type.Object({}, { additionalProperties: true }),
        'The info object of the node; {} if there is none.',
        '全节点返回的 info；没有时为 {}。',
      ),
      orig_info: text('The orig_info value of the node.', '全节点返回的 orig_info。'),
    }),
    'The block.',
    '区块。',
  ),
  status: text(
    'PENDING above the last irreversible block, otherwise IRREVERSIBLE.',
    '高于最新的不可逆区块时为 PENDING，否则为 IRREVERSIBLE。',
  ),
  witness_account: text(
    'Account of the producer that signed the block; the public key if no account has registered it.',
    '签名该区块的生产者账户；没有账户登记该公钥时为公钥本身。',
  ),
})

/** The answer of get-block-detail and get-latest-block. */
export const blockAnswer = ({ status, doc }: FoundBlock) => ({
  block: {
    hash: doc.hash,
    version: doc.version,
    parent_hash: doc.parent_hash,
    tx_merkle_hash: doc.tx_merkle_hash,
    tx_receipt_merkle_hash: doc.tx_receipt_merkle_hash,
    number: doc.height,
    witness: doc.witness,
    time: toTime(doc.time),
    gas_usage: toGas(doc.gas_usage),
    tx_count: String(doc.tx_count),
    info: new RawJson(doc.info),
    orig_info: doc.orig_info,
  },
  status,
  witness_account: doc.witness_account,
})
