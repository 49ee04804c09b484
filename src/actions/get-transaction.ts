import { Type } from '@sinclair/typebox'
import { transactionId } from '#indices/position.ts'
import { defineAction } from './define.ts'
import { requireFound, toNull, unknown } from './find/loading.ts'
import { readRowTexts, TRANSACTIONS } from './find/record-texts.ts'
import { withOwnData } from './find/rows.ts'
import { findTransaction, findTransactions } from './find/transaction.ts'
import { recordsOfTransactions } from './find/transaction-records.ts'
import { buildWholeList } from './list/paging.ts'
import { hash, transactionHashes } from './request/parameter-types.ts'
import { transactionRecords, writtenRows } from './shape/records.ts'
import { defineRows, listOfRows, shape } from './shape/results.ts'
import { actionRow, receiptRow, transactionAnswer, transactionResult } from './shape/transaction-answer.ts'

/** A transaction by its hash. */
export const getTransactionDetail = defineAction({
  module: 'transaction',
  action: 'get-transaction-detail',
  title: { en: 'Transaction', zh: '交易详情' },
  summary: {
    en: 'A transaction as a node returns it, but with delay and expiration as numbers. A transaction that is not in a published block yet is PACKED if it is in a block of the branch that the service follows (head=1 in lists), which may still be replaced, and otherwise read from the connected node: PENDING means that it is in the pool (tx_receipt is {}), as that node reports. block_number is -1 until its block is irreversible.',
    zh: '与全节点返回的交易一致，但 delay 与 expiration 为数字。尚未进入已发布区块的交易：若在服务所跟踪分支的区块中（与列表中的 head=1 相同，仍可能被替换），status 为 PACKED；否则从所连接的全节点读取，PENDING 表示该全节点称其在交易池中（tx_receipt 为 {}）。在区块不可逆之前 block_number 为 -1。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: transactionResult,
  run: async (context, { tx_hash }) =>
    transactionAnswer(await findTransaction({ ...context, waitForNode: context.waitAfterRead }, tx_hash)),
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})

/** The actions of a transaction. */
export const getTransactionAction = defineAction({
  module: 'transaction',
  action: 'get-transaction-action',
  title: { en: 'Actions of a transaction', zh: '交易中的方法' },
  summary: {
    en: 'The actions of a transaction, in order. The list is always complete.',
    zh: '交易中的方法，按执行顺序排列。始终返回完整列表。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: listOfRows('actions', actionRow, { en: 'Actions.', zh: '方法列表。' }),
  list: 'actions',
  run: async (context, { tx_hash }) => {
    const { body } = await findTransaction({ ...context, waitForNode: context.waitAfterRead }, tx_hash)
    const { actions } = JSON.parse(body) as { readonly actions: readonly Row[] }
    return buildWholeList(
      'actions',
      actions.map(({ contract, action_name, data }) => ({ contract, action_name, data })),
    )
  },
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})

type Row = { readonly contract: string; readonly action_name: string; readonly data: string }

/** The receipts of a transaction. */
export const getTransactionReceipt = defineAction({
  module: 'transaction',
  action: 'get-transaction-receipt',
  title: { en: 'Receipts of a transaction', zh: '交易的收据' },
  summary: {
    en: 'The receipts of a transaction, in order. The list is empty while the transaction is in the pool, and if it failed. The list is always complete.',
    zh: '交易的收据，按顺序排列；交易在交易池中或执行失败时列表为空。始终返回完整列表。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: listOfRows('receipts', receiptRow, { en: 'Receipts.', zh: '收据列表。' }),
  list: 'receipts',
  run: async (context, { tx_hash }) => {
    const { body } = await findTransaction({ ...context, waitForNode: context.waitAfterRead }, tx_hash)
    const { tx_receipt } = JSON.parse(body) as { readonly tx_receipt: Receipts | null }
    const rows = (tx_receipt?.receipts ?? []).map(({ func_name, content }) => ({ func_name, content }))
    return buildWholeList('receipts', rows)
  },
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hash: '4aSfS9vs1bsvVAybT1Ehcp9LWL9EjMFSHRKs2cWS1wHx' },
})

type Receipts = { readonly receipts: readonly { readonly func_name: string; readonly content: string }[] }

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

/** Several transactions by their hashes. */
export const getTransactions = defineAction({
  module: 'transaction',
  action: 'get-transactions',
  title: { en: 'Several transactions', zh: '多笔交易' },
  summary: {
    en: 'Up to 50 transactions by hash. There is one entry for each hash, in the order requested, as get-transaction-detail returns it; a transaction that does not exist gives null. Those that are not in a published block yet are taken from the branch that the service follows, or read from the connected node.',
    zh: '按哈希一次查询最多 50 笔交易。每个哈希一项，按请求的顺序排列，内容与 get-transaction-detail 相同；不存在的交易为 null。尚未进入已发布区块的交易取自服务所跟踪的分支，或从所连接的全节点读取。',
  },
  params: Type.Object({
    tx_hashes: transactionHashes({
      description: {
        en: 'Hashes of transactions, up to 50, joined by commas; a hash may occur more than once.',
        zh: '交易哈希，最多 50 个，以英文逗号分隔；可重复。',
      },
      foreignNames: ['tx_hash'],
    }),
  }),
  result: shape({
    transactions: defineRows(
      Type.Union([transactionResult, Type.Null()]),
      'An entry for each hash, in the order requested; null for a transaction that does not exist.',
      '每个哈希一项，按请求的顺序排列；不存在的交易为 null。',
    ),
  }),
  run: async (context, { tx_hashes }) => {
    const found = await findTransactions({ ...context, waitForNode: context.waitAfterRead }, tx_hashes)
    return {
      transactions: tx_hashes.map(name => {
        const one = found.get(name)
        return one === undefined ? toNull(unknown(context, 'transaction', name)) : transactionAnswer(one)
      }),
    }
  },
  fails: ['loading', 'bad_block'],
  example: {
    tx_hashes: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp,EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e',
  },
})
