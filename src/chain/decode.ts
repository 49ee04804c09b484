import type { Block, ContractCode, Transaction, TxReceipt } from './block.ts'
import { HASH, IN_GENESIS, IN_TRANSACTION, INFO, OF_EXECUTION, PUBLIC_KEY, RECEIPTS, STORED, WORD } from './bounds.ts'
import { decodeAmountLimits, decodeWrittenTransaction } from './decode-transaction.ts'
import { decodeRawHead, decodeSignature, type RawHead } from './head.ts'
import { compactJson, elementSpans, memberSpans, spansInside, type TextSpan } from './json.ts'
import {
  expectInt64,
  expectObject,
  getOptionalText,
  invalidValue,
  type JsonFields,
  type Path,
  parseAnswer,
  requireBase64,
  requireCount,
  requireInt64,
  requireInteger,
  requireList,
  requireObject,
  requireShortText,
  requireText,
  requireTexts,
} from './json-fields.ts'
import { statusName } from './receipt-hash.ts'
import type { HashedTransaction } from './transaction-hash.ts'

/** `PENDING`: the block is above the last irreversible block of the node that answered. */
type BlockStatus = 'PENDING' | 'IRREVERSIBLE'

function decodeStatus(fields: JsonFields, above: Path): BlockStatus {
  const status = requireText(fields, 'status', above, WORD)
  if (status !== 'PENDING' && status !== 'IRREVERSIBLE')
    throw invalidValue({ above, key: 'status' }, status, 'PENDING or IRREVERSIBLE')
  return status
}

/** Decodes a list of a JSON text, from its parsed entries and their positions. */
function decodeTransactions(
  { text, spans, values }: { text: string; spans: readonly TextSpan[]; values: readonly unknown[] },
  path: Path,
  height: number,
): readonly Transaction[] {
  const data = height === 0 ? IN_GENESIS : IN_TRANSACTION
  return values.map((value, index) =>
    decodeWrittenTransaction({ text, span: spans[index] ?? [0, 0], value }, { above: path, key: index }, data),
  )
}

const listElements = (text: string, list: TextSpan | undefined): readonly TextSpan[] =>
  list === undefined ? [] : elementSpans(text, list[0])

/**
 * Decodes the answer of getBlockByNumber or getBlockByHash. Without `complete` the node returns no
 * transactions, and the list is empty. Unknown fields are ignored, as is the block's `gas_usage` (0 for
 * irreversible blocks, whatever they used). Throws Failure 'bad_block' with the path, the value and the rule.
 */
export function decodeBlockAnswer(text: string): { readonly status: BlockStatus; readonly block: Block } {
  const answer = expectObject(parseAnswer(text, 'getBlockByNumber'), { key: 'answer' })
  const path: Path = { key: 'block' }
  const fields = expectObject(answer['block'], path)
  const spans = memberSpans(text, memberSpans(text).get('block')?.[0])
  const info = spans.get('info')
  const height = requireCount(fields, 'number', path)
  const block: Block = {
    height,
    hash: requireText(fields, 'hash', path, HASH),
    parentHash: requireText(fields, 'parent_hash', path, HASH),
    version: String(requireInt64(fields, 'version', path)),
    txMerkleHash: requireText(fields, 'tx_merkle_hash', path, HASH),
    txReceiptMerkleHash: requireText(fields, 'tx_receipt_merkle_hash', path, HASH),
    witness: requireText(fields, 'witness', path, PUBLIC_KEY),
    time: requireInt64(fields, 'time', path),
    txCount: requireCount(fields, 'tx_count', path),
    info:
      info === undefined || fields['info'] === null
        ? '{}'
        : requireShortText(compactJson(text, info), { above: path, key: 'info' }, INFO),
    origInfo: getOptionalText(fields, 'orig_info', path, INFO),
    transactions: decodeTransactions(
      // The value must be a list before its elements are located.
      { text, values: requireList(fields, 'transactions', path), spans: listElements(text, spans.get('transactions')) },
      { above: path, key: 'transactions' },
      height,
    ),
  }
  return { status: decodeStatus(answer, { key: 'answer' }), block }
}

/** The block of `decodeBlockAnswer`, with any status. */
export const decodeBlock = (text: string): Block => decodeBlockAnswer(text).block

/** Transactions of one block from a bulk answer, which lacks those without actions. */
export type BlockTransactions = {
  readonly status: BlockStatus
  readonly height: number
  readonly transactions: readonly Transaction[]
}

/** Decodes the answer of getBlockTxsByContract, in the node's order. Throws Failure 'bad_block'. */
export function decodeBlockTransactions(text: string): readonly BlockTransactions[] {
  const answer = expectObject(parseAnswer(text, 'getBlockTxsByContract'), { key: 'answer' })
  const above: Path = { key: 'blocktx_list' }
  const list = requireList(answer, 'blocktx_list', { key: 'answer' }).map((value, index) => {
    const path: Path = { above, key: index }
    const fields = expectObject(value, path)
    return { path, fields, values: requireList(fields, 'tx_list', path) }
  })
  const spans =
    findSpansInOnePass(text, answer, list) ??
    listElements(text, memberSpans(text).get('blocktx_list')).map(([start]) =>
      listElements(text, memberSpans(text, start).get('tx_list')),
    )
  return list.map(({ path, fields, values }, index) => {
    const height = requireCount(fields, 'block_number', path)
    const status = decodeStatus(fields, path)
    const written = { text, spans: spans[index] ?? [], values }
    return { status, height, transactions: decodeTransactions(written, { above: path, key: 'tx_list' }, height) }
  })
}

const MEMBERS: ReadonlySet<string> = new Set(['status', 'block_number', 'tx_list'])

/**
 * Positions of the transactions of each block in a bulk answer, found in one pass. undefined if another value
 * may be nested as deep: a member that nodes do not return, or a repeated one.
 */
function findSpansInOnePass(
  text: string,
  answer: JsonFields,
  lists: readonly { readonly fields: JsonFields; readonly values: readonly unknown[] }[],
): readonly (readonly TextSpan[])[] | undefined {
  const isKnown = lists.every(({ fields }) => Object.keys(fields).every(name => MEMBERS.has(name)))
  if (!isKnown || Object.keys(answer).length !== 1) return undefined
  // The brackets around a transaction: `{"blocktx_list":[{"tx_list":[`
  const spans = spansInside(text, 4)
  const counts = lists.map(({ values }) => values.length)
  if (spans.length !== counts.reduce((sum, count) => sum + count, 0)) return undefined
  let next = 0
  return counts.map(count => {
    next += count
    return spans.slice(next - count, next)
  })
}

/** Decodes the answer of getChainInfo. Throws Failure 'bad_block'. */
export function decodeChainInfo(text: string) {
  const path: Path = { key: 'chain_info' }
  const fields = expectObject(parseAnswer(text, 'getChainInfo'), path)
  return {
    chainId: requireInteger(fields, 'chain_id', path),
    netName: requireText(fields, 'net_name', path, WORD),
    headBlock: requireCount(fields, 'head_block', path),
    headHash: requireText(fields, 'head_block_hash', path, HASH),
    headTime: requireInt64(fields, 'head_block_time', path),
    libBlock: requireCount(fields, 'lib_block', path),
    libHash: requireText(fields, 'lib_block_hash', path, HASH),
    libTime: requireInt64(fields, 'lib_block_time', path),
  } as const
}

/** Decodes the answer of getContract, without the code. Throws Failure 'bad_block'. */
export function decodeContract(text: string): ContractCode {
  const path: Path = { key: 'contract' }
  const fields = expectObject(parseAnswer(text, 'getContract'), path)
  return {
    id: requireText(fields, 'id', path),
    language: requireText(fields, 'language', path),
    version: requireText(fields, 'version', path),
    abis: requireList(fields, 'abis', path).map((value, index) => {
      const at: Path = { above: { above: path, key: 'abis' }, key: index }
      const abi = expectObject(value, at)
      return {
        name: requireText(abi, 'name', at),
        args: requireTexts(abi, 'args', at),
        amount_limit: decodeAmountLimits(abi, at),
      }
    }),
  }
}

/** Decodes the answer of listContractStorage. Throws Failure 'bad_block'. */
export function decodeStorage(text: string) {
  const path: Path = { key: 'storage' }
  const fields = expectObject(parseAnswer(text, 'listContractStorage'), path)
  const above: Path = { above: path, key: 'datas' }
  return {
    height: requireCount(fields, 'block_number', path),
    hash: requireText(fields, 'block_hash', path, HASH),
    rows: requireList(fields, 'datas', path).map((value, index) => {
      const at: Path = { above, key: index }
      const row = expectObject(value, at)
      return [requireText(row, 'key', at), requireText(row, 'value', at, STORED)] as const
    }),
  } as const
}

/** A block in the form that the chain stores and hashes. */
export type RawBlock = {
  readonly head: RawHead
  readonly transactions: readonly HashedTransaction[]
  /** One for each transaction, in the same order. */
  readonly receipts: readonly TxReceipt[]
}

/** Receipts at some positions of a block, as far as the block has them. */
export const decodeReceipts = ({ receipts }: RawBlock, positions: readonly number[]): ReadonlyMap<number, TxReceipt> =>
  new Map(
    positions.flatMap(position => {
      const receipt = receipts[position]
      return receipt === undefined ? [] : [[position, receipt] as const]
    }),
  )

/** Decodes the answer of getRawBlockByNumber/N/true. Throws Failure 'bad_block'. */
export function decodeRawBlock(text: string): RawBlock {
  const answer = expectObject(parseAnswer(text, 'getRawBlockByNumber'), { key: 'answer' })
  const path: Path = { key: 'block' }
  const block = requireObject(answer, 'block', { key: 'answer' })
  return {
    head: decodeRawHead(block, path),
    transactions: requireList(block, 'txs', path).map((value, index) =>
      decodeRawTransaction(value, { above: { above: path, key: 'txs' }, key: index }),
    ),
    receipts: requireList(block, 'receipts', path).map((value, index) =>
      decodeRawReceipt(value, { above: { above: path, key: 'receipts' }, key: index }),
    ),
  }
}

function decodeRawTransaction(value: unknown, path: Path): HashedTransaction {
  const fields = expectObject(value, path)
  const each = <T>(key: string, read: (entry: unknown, at: Path) => T): readonly T[] =>
    requireList(fields, key, path).map((entry, index) => read(entry, { above: { above: path, key }, key: index }))
  return {
    time: requireInt64(fields, 'time', path),
    expiration: requireInt64(fields, 'expiration', path),
    gasRatio: requireInt64(fields, 'gasRatio', path),
    gasLimit: requireInt64(fields, 'gasLimit', path),
    delay: requireInt64(fields, 'delay', path),
    chainId: requireInteger(fields, 'chain_id', path),
    reserved: requireBase64(fields, 'reserved', path),
    signers: requireTexts(fields, 'signers', path),
    actions: each('actions', (entry, at) => {
      const action = expectObject(entry, at)
      return {
        contract: requireText(action, 'contract', at),
        actionName: requireText(action, 'actionName', at),
        data: requireText(action, 'data', at),
      }
    }),
    amountLimit: each('amountLimit', (entry, at) => {
      const limit = expectObject(entry, at)
      return { token: requireText(limit, 'token', at), value: requireText(limit, 'val', at) }
    }),
    signs: each('signs', decodeSignature),
    referredTx: requireBase64(fields, 'referredTx', path),
    publisher: requireText(fields, 'publisher', path),
    publishSigns: each('publishSigns', decodeSignature),
  }
}

function decodeRawReceipt(value: unknown, path: Path): TxReceipt {
  const fields = expectObject(value, path)
  const status = requireObject(fields, 'status', path)
  const usage = expectObject(fields['ramUsage'], { above: path, key: 'ramUsage' })
  return {
    gasUsage: requireInt64(fields, 'gasUsage', path),
    ramUsage: Object.entries(usage).map(
      ([payer, bytes]) => [payer, expectInt64(bytes, { above: path, key: 'ramUsage' })] as const,
    ),
    statusCode: statusName(requireInteger(status, 'code', { above: path, key: 'status' })),
    message: requireText(status, 'message', { above: path, key: 'status' }, OF_EXECUTION),
    returns: requireTexts(fields, 'returns', path, OF_EXECUTION),
    receipts: requireList(fields, 'receipts', path, RECEIPTS).map((entry, index) => {
      const at: Path = { above: { above: path, key: 'receipts' }, key: index }
      const receipt = expectObject(entry, at)
      return {
        funcName: requireText(receipt, 'funcName', at),
        content: requireText(receipt, 'content', at, OF_EXECUTION),
      }
    }),
  }
}
