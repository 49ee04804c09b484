import type { Block, ContractCode, Transaction } from './block.ts'
import { HASH, IN_GENESIS, IN_TRANSACTION, INFO, PUBLIC_KEY, STORED, WORD } from './bounds.ts'
import { amountLimitsOf, transactionFrom, transactionText } from './decode-transaction.ts'
import {
  asObject,
  bounded,
  countOf,
  type Fields,
  int64Of,
  integerOf,
  invalidValue,
  listOf,
  memberOf,
  optionalTextOf,
  type Path,
  parseAnswer,
  textOf,
  textsOf,
} from './json-fields.ts'
import { compactJson, elementSpans, memberSpans, type Span, spansInside } from './json-text.ts'

/** `PENDING`: the block is above the last irreversible block of the node that answered. */
export type BlockStatus = 'PENDING' | 'IRREVERSIBLE'

const statusOf = (fields: Fields, above: Path): BlockStatus => {
  const status = textOf(fields, 'status', above, WORD)
  if (status !== 'PENDING' && status !== 'IRREVERSIBLE')
    throw invalidValue({ above, key: 'status' }, status, 'PENDING or IRREVERSIBLE')
  return status
}

/** A list in a JSON text: its parsed entries, and their positions. */
type WrittenList = {
  readonly text: string
  readonly spans: readonly Span[]
  readonly values: readonly unknown[]
}

const transactionsAt = ({ text, spans, values }: WrittenList, path: Path, height: number): readonly Transaction[] => {
  const data = height === 0 ? IN_GENESIS : IN_TRANSACTION
  return values.map((value, index) => {
    const at = { above: path, key: index }
    asObject(value, at)
    return transactionFrom({ value, body: transactionText(text, spans[index] ?? [0, 0], value) }, at, data)
  })
}

const elementsAt = (text: string, list: Span | undefined): readonly Span[] =>
  list === undefined ? [] : elementSpans(text, list[0])

/**
 * Decodes the answer of getBlockByNumber or getBlockByHash. Without `complete` the node returns no
 * transactions, and the list is empty. Unknown fields are ignored, as is the block's `gas_usage` (0 for
 * irreversible blocks, whatever they used). Throws Failure 'bad_block' with the path, the value and the rule.
 */
export const decodeBlockAnswer = (text: string): { readonly status: BlockStatus; readonly block: Block } => {
  const answer = asObject(parseAnswer(text, 'getBlockByNumber'), { key: 'answer' })
  const path: Path = { key: 'block' }
  const fields = asObject(memberOf(answer, 'block'), path)
  const spans = memberSpans(text, memberSpans(text).get('block')?.[0])
  const info = spans.get('info')
  const height = countOf(fields, 'number', path)
  const block: Block = {
    height,
    hash: textOf(fields, 'hash', path, HASH),
    parentHash: textOf(fields, 'parent_hash', path, HASH),
    version: String(int64Of(fields, 'version', path)),
    txMerkleHash: textOf(fields, 'tx_merkle_hash', path, HASH),
    txReceiptMerkleHash: textOf(fields, 'tx_receipt_merkle_hash', path, HASH),
    witness: textOf(fields, 'witness', path, PUBLIC_KEY),
    time: int64Of(fields, 'time', path),
    txCount: countOf(fields, 'tx_count', path),
    info: info === undefined || memberOf(fields, 'info') === null ? '{}' : infoAt(text, info, path),
    origInfo: optionalTextOf(fields, 'orig_info', path, INFO),
    transactions: transactionsAt(
      // The value must be a list before its elements are located.
      {
        text,
        values: listOf(fields, 'transactions', path),
        spans: elementsAt(text, spans.get('transactions')),
      },
      { above: path, key: 'transactions' },
      height,
    ),
  }
  return { status: statusOf(answer, { key: 'answer' }), block }
}

const infoAt = (text: string, span: Span, path: Path): string =>
  bounded(compactJson(text, span), { above: path, key: 'info' }, INFO)

/** The block of `decodeBlockAnswer`, with any status. */
export const decodeBlock = (text: string): Block => decodeBlockAnswer(text).block

/** Transactions of one block from a bulk answer, which lacks those without actions. */
export type BlockTransactions = {
  readonly status: BlockStatus
  readonly height: number
  readonly transactions: readonly Transaction[]
}

/** Decodes the answer of getBlockTxsByContract, in the node's order. Throws Failure 'bad_block'. */
export const decodeBlockTransactions = (text: string): readonly BlockTransactions[] => {
  const answer = asObject(parseAnswer(text, 'getBlockTxsByContract'), { key: 'answer' })
  const above: Path = { key: 'blocktx_list' }
  const list = listOf(answer, 'blocktx_list', { key: 'answer' }).map((value, index) => {
    const path: Path = { above, key: index }
    const fields = asObject(value, path)
    return { path, fields, values: listOf(fields, 'tx_list', path) }
  })
  const spans = spansByPass(text, answer, list) ?? spansByName(text)
  return list.map(({ path, fields, values }, index) => {
    const height = countOf(fields, 'block_number', path)
    return {
      status: statusOf(fields, path),
      height,
      transactions: transactionsAt(
        { text, spans: spans[index] ?? [], values },
        { above: path, key: 'tx_list' },
        height,
      ),
    }
  })
}

type TransactionList = { readonly fields: Fields; readonly values: readonly unknown[] }

/** Brackets around a transaction in a bulk answer: `{"blocktx_list":[{"tx_list":[` */
const AROUND = 4
const MEMBERS: ReadonlySet<string> = new Set(['status', 'block_number', 'tx_list'])

/**
 * Positions of the transactions of each block in a bulk answer, found in one pass. undefined if another value
 * may be nested as deep: a member that nodes do not return, or a repeated one.
 */
const spansByPass = (
  text: string,
  answer: Fields,
  lists: readonly TransactionList[],
): readonly (readonly Span[])[] | undefined => {
  const isKnown = lists.every(({ fields }) => Object.keys(fields).every(name => MEMBERS.has(name)))
  if (!isKnown || Object.keys(answer).length !== 1) return undefined
  const spans = spansInside(text, AROUND)
  const counts = lists.map(({ values }) => values.length)
  if (spans.length !== counts.reduce((sum, count) => sum + count, 0)) return undefined
  let next = 0
  return counts.map(count => {
    next += count
    return spans.slice(next - count, next)
  })
}

const spansByName = (text: string): readonly (readonly Span[])[] =>
  elementsAt(text, memberSpans(text).get('blocktx_list')).map(([start]) =>
    elementsAt(text, memberSpans(text, start).get('tx_list')),
  )

/** Decodes the answer of getChainInfo. Throws Failure 'bad_block'. */
export const decodeChainInfo = (text: string) => {
  const path: Path = { key: 'chain_info' }
  const fields = asObject(parseAnswer(text, 'getChainInfo'), path)
  return {
    chainId: integerOf(fields, 'chain_id', path),
    netName: textOf(fields, 'net_name', path, WORD),
    headBlock: countOf(fields, 'head_block', path),
    headHash: textOf(fields, 'head_block_hash', path, HASH),
    headTime: int64Of(fields, 'head_block_time', path),
    libBlock: countOf(fields, 'lib_block', path),
    libHash: textOf(fields, 'lib_block_hash', path, HASH),
    libTime: int64Of(fields, 'lib_block_time', path),
  } as const
}

/** Decodes the answer of getContract, without the code. Throws Failure 'bad_block'. */
export const decodeContract = (text: string): ContractCode => {
  const path: Path = { key: 'contract' }
  const fields = asObject(parseAnswer(text, 'getContract'), path)
  return {
    id: textOf(fields, 'id', path),
    language: textOf(fields, 'language', path),
    version: textOf(fields, 'version', path),
    abis: listOf(fields, 'abis', path).map((value, index) => {
      const at: Path = { above: { above: path, key: 'abis' }, key: index }
      const abi = asObject(value, at)
      return {
        name: textOf(abi, 'name', at),
        args: textsOf(abi, 'args', at),
        amount_limit: amountLimitsOf(abi, at),
      }
    }),
  }
}

/** Decodes the answer of listContractStorage. Throws Failure 'bad_block'. */
export const decodeStorage = (text: string) => {
  const path: Path = { key: 'storage' }
  const fields = asObject(parseAnswer(text, 'listContractStorage'), path)
  const above: Path = { above: path, key: 'datas' }
  return {
    height: countOf(fields, 'block_number', path),
    hash: textOf(fields, 'block_hash', path, HASH),
    rows: listOf(fields, 'datas', path).map((value, index) => {
      const at: Path = { above, key: index }
      const row = asObject(value, at)
      return [textOf(row, 'key', at), textOf(row, 'value', at, STORED)] as const
    }),
  } as const
}
