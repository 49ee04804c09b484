import { Type } from '@sinclair/typebox'
import { transactionId } from '#indices/position.ts'
import { defineAction } from './define.ts'
import { readRowTexts, TRANSACTIONS } from './find/overflow.ts'
import { findTransactions } from './find/transaction.ts'
import { recordsOfTransactions } from './find/transaction-records.ts'
import { requireFound } from './find/unknown.ts'
import { buildWholeList } from './list/paging.ts'
import { withOwnData } from './list/rows.ts'
import { transactionHashes } from './request/parameter-types.ts'
import { transactionRecords } from './shape/record-row.ts'
import { writtenRows } from './shape/rows.ts'

/** Actions and token movements of transactions. */
export const getTransactionRecords = defineAction({
  module: 'transaction',
  action: 'get-transaction-records',
  title: { en: 'Records of transactions', zh: '交易的记录' },
  summary: {
    en: 'Actions and token movements of up to 50 transactions, in the order requested, each transaction once. Rows are as in get-contract-tx: one for each action, then one for each token movement and each registered account that is not the effect of one of these actions; a row with an amount moved tokens. A transaction has no more rows than actions and receipts, so the list is always complete. A transaction in the pool has no rows yet. If one transaction does not exist, the whole request is refused.',
    zh: '一次查询最多 50 笔交易执行了哪些方法、变动了哪些代币，按请求的顺序排列，每笔交易只列一次。各行与 get-contract-tx 相同：每个方法一行，然后是并非由这些方法直接产生的每次代币变动与每个新注册账户各一行；有 amount 的行表示发生了代币变动。行数不超过该交易的方法数与收据数之和，因此始终返回完整列表。交易池中的交易没有记录。只要有一笔交易不存在，整个请求即被拒绝。',
  },
  params: Type.Object({
    tx_hashes: transactionHashes({
      description: {
        en: 'Hash of a transaction, or up to 50 hashes joined by commas. The parameter may also be named tx_hash.',
        zh: '交易哈希；最多 50 个，以英文逗号分隔。参数名也可写作 tx_hash。',
      },
      aliases: ['tx_hash'],
    }),
  }),
  ...transactionRecords(),
  list: 'records',
  run: async (context, { tx_hashes }) => {
    const hashes = [...new Set(tx_hashes)]
    const known = await findTransactions(context, hashes)
    const found = requireFound(
      context,
      'transaction',
      hashes.map(name => [name, known.get(name)]),
    )
    const docs = await recordsOfTransactions(context, found)
    const bodies = new Map(
      found.flatMap(({ place, body }) =>
        place === undefined ? [] : [[transactionId(place.height, place.tx), body] as const],
      ),
    )
    const all = docs.flat()
    const statuses = found.flatMap(({ status }, at) => (docs[at] ?? []).map(() => status))
    const texts = await readRowTexts(async () => bodies, all, { asked: TRANSACTIONS })
    const rows = writtenRows(all, { texts, compat: context.compat }, at => ({
      status: statuses[at],
      isNamed: true,
    }))
    return buildWholeList('records', withOwnData(rows))
  },
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hashes: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})
