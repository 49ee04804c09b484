import { Type } from '@sinclair/typebox'
import { summarizeTransaction } from '#chain/decode-transaction.ts'
import { compactJson, Exact, memberSpans, RawJson, type TextSpan } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { transactionId } from '#indices/list.ts'
import { defineAction } from './define.ts'
import type { FoundTransaction } from './find/block.ts'
import { readNumberedRowIds } from './find/blocks-at.ts'
import { withOwnData } from './find/listing.ts'
import { requireFound, toNull, unknown } from './find/loading.ts'
import { listTransactions, type NumberedTransaction } from './find/numbered.ts'
import { readRowTexts, TRANSACTIONS } from './find/record-texts.ts'
import { findTransaction, findTransactions } from './find/transaction.ts'
import { readTransactionRecords } from './find/transaction-records.ts'
import { buildWholeList, defineList } from './list/paging.ts'
import { hash, paging, sort, transactionHashes } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, range } from './request/range.ts'
import { transactionRecords, writeRecordRows } from './shape/records.ts'
import {
  byName,
  count,
  defineCreatedTime,
  defineRows,
  described,
  exact,
  irreversibleSeq,
  listOfRows,
  numberedLists,
  shape,
  text,
  txHash,
} from './shape/results.ts'
import { headFields, plainNumber, toGas, toRowStatus } from './shape/values.ts'

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

const actionRow = shape({
  contract: text('Contract.', '合约。'),
  action_name: text('Action name.', '方法名。'),
  data: text('Arguments, as the signer wrote them.', '参数（签名者提交的原文）。'),
})

const receiptRow = shape({
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
const transactionResult = shape({
  status: text('PENDING, PACKED or IRREVERSIBLE.', 'PENDING、PACKED 或 IRREVERSIBLE。'),
  transaction: described(transaction, 'Transaction.', '交易。'),
  block_number: text('Number of the block, or -1.', '所在区块高度，或 -1。'),
})

/** The answer of get-transaction-detail and an entry of get-transactions. */
const transactionAnswer = ({ status, blockNumber, body }: FoundTransaction) => ({
  status,
  transaction: transactionObject(body),
  block_number: blockNumber,
})

const listedTransactionFields = {
  seq: irreversibleSeq(),
  ...headFields(),
  tx_hash: txHash(),
  block: text('Block number (height).', '区块高度。'),
  created_at: defineCreatedTime(),
  publisher: text('Account that published the transaction.', '发布者账户。'),
  contract: text(
    'Contract of the first action; empty for a transaction without actions.',
    '第一个方法的合约；没有方法的交易为空。',
  ),
  action_name: text(
    'Name of the first action; empty for a transaction without actions.',
    '第一个方法的名称；没有方法的交易为空。',
  ),
  actions: count('Number of actions.', '方法数。'),
  status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
  gas_fee: exact('Gas paid.', '支付的 gas。'),
}

export const getTransactionList = defineList({
  module: 'base',
  action: 'get-transaction-list',
  title: { en: 'Transactions', zh: '交易列表' },
  summary: {
    en: 'All transactions of the chain, including failed ones, newest first; sort=asc returns the exact reverse. The base transactions that the chain itself puts into every block are left out.',
    zh: '链上的全部交易（包括失败的），最新的在前；sort=asc 时顺序完全相反。不包括由链自身写入每个区块的 base 交易。',
  },
  params: Type.Object({ ...paging, sort: sort(), ...range, ...headOptions }),
  check: checkHeadRange,
  ...numberedLists('transactions', listedTransactionFields, { en: 'Transactions of this page.', zh: '交易列表。' }),
  list: 'transactions',
  source: {
    // Runs of transactions are only appended to, so no state has to be held.
    state: [],
    isFeed: true,
    open: async (context, asked) => {
      const { compat, head } = context
      const rowOf = ({ seq: number, above, doc: { doc, time } }: NumberedTransaction, id: string | undefined) => {
        const { publisher, actions, first, statusCode, gasUsage } = summarizeTransaction(doc.body)
        return {
          ...(compat === 'iostabc' || above !== undefined ? {} : { seq: number }),
          ...(id === undefined ? {} : { id, status: toRowStatus(above) }),
          tx_hash: doc.hash,
          block: String(doc.height),
          created_at: toIso(time),
          publisher,
          contract: first?.contract ?? '',
          action_name: first?.actionName ?? '',
          actions,
          status_code: statusCode,
          gas_fee: toGas(gasUsage),
        }
      }
      const found = await listTransactions(context, asked)
      return {
        ...found,
        rows: async (reading, docs: readonly NumberedTransaction[]) => {
          const ids = head === undefined ? [] : await readNumberedRowIds(reading, docs, ({ doc }) => doc.id)
          return { rows: docs.map((row, at) => rowOf(row, ids[at])) }
        },
      }
    },
  },
  isOfStore: true,
  fails: ['loading', 'replaced'],
  example: { page: '1', size: '5' },
})

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
    const docs = await readTransactionRecords(context, found)
    const bodies = new Map(
      found.flatMap(({ place, body }) =>
        place === undefined ? [] : [[transactionId(place.height, place.tx), body] as const],
      ),
    )
    const all = docs.flat()
    const statuses = found.flatMap(({ status }, at) => (docs[at] ?? []).map(() => status))
    const texts = await readRowTexts(async () => bodies, all, { asked: TRANSACTIONS })
    const form = { contract: 'always', compat: context.compat, texts } as const
    const rows = writeRecordRows(all, form, at => ({ status: statuses[at] }))
    return buildWholeList('records', withOwnData(rows))
  },
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hashes: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})

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
