import type { TxReceipt } from './block.ts'
import { OF_EXECUTION, RECEIPTS } from './bounds.ts'
import { decodeSignature, type RawHead, rawHeadFrom } from './head.ts'
import {
  asInt64,
  asObject,
  base64Of,
  int64Of,
  integerOf,
  listOf,
  memberOf,
  objectOf,
  type Path,
  parseAnswer,
  textOf,
  textsOf,
} from './json-fields.ts'
import { statusName } from './receipt-hash.ts'
import type { HashedTransaction } from './transaction-hash.ts'

/** A block in the form that the chain stores and hashes. */
export type RawBlock = {
  readonly head: RawHead
  readonly transactions: readonly HashedTransaction[]
  /** One for each transaction, in the same order. */
  readonly receipts: readonly TxReceipt[]
}

/** Receipts at some positions of a block, as far as the block has them. */
export const receiptsAt = ({ receipts }: RawBlock, positions: readonly number[]): ReadonlyMap<number, TxReceipt> =>
  new Map(
    positions.flatMap(position => {
      const receipt = receipts[position]
      return receipt === undefined ? [] : [[position, receipt] as const]
    }),
  )

/** Decodes the answer of getRawBlockByNumber/N/true. Throws Failure 'bad_block'. */
export const decodeRawBlock = (text: string): RawBlock => {
  const answer = asObject(parseAnswer(text, 'getRawBlockByNumber'), { key: 'answer' })
  const path: Path = { key: 'block' }
  const block = objectOf(answer, 'block', { key: 'answer' })
  return {
    head: rawHeadFrom(block, path),
    transactions: listOf(block, 'txs', path).map((value, index) =>
      transactionFrom(value, { above: { above: path, key: 'txs' }, key: index }),
    ),
    receipts: listOf(block, 'receipts', path).map((value, index) =>
      receiptFrom(value, { above: { above: path, key: 'receipts' }, key: index }),
    ),
  }
}

const transactionFrom = (value: unknown, path: Path): HashedTransaction => {
  const fields = asObject(value, path)
  const each = <T>(key: string, read: (entry: unknown, at: Path) => T): readonly T[] =>
    listOf(fields, key, path).map((entry, index) => read(entry, { above: { above: path, key }, key: index }))
  return {
    time: int64Of(fields, 'time', path),
    expiration: int64Of(fields, 'expiration', path),
    gasRatio: int64Of(fields, 'gasRatio', path),
    gasLimit: int64Of(fields, 'gasLimit', path),
    delay: int64Of(fields, 'delay', path),
    chainId: integerOf(fields, 'chain_id', path),
    reserved: base64Of(fields, 'reserved', path),
    signers: textsOf(fields, 'signers', path),
    actions: each('actions', (entry, at) => {
      const action = asObject(entry, at)
      return {
        contract: textOf(action, 'contract', at),
        actionName: textOf(action, 'actionName', at),
        data: textOf(action, 'data', at),
      }
    }),
    amountLimit: each('amountLimit', (entry, at) => {
      const limit = asObject(entry, at)
      return { token: textOf(limit, 'token', at), value: textOf(limit, 'val', at) }
    }),
    signs: each('signs', decodeSignature),
    referredTx: base64Of(fields, 'referredTx', path),
    publisher: textOf(fields, 'publisher', path),
    publishSigns: each('publishSigns', decodeSignature),
  }
}

const receiptFrom = (value: unknown, path: Path): TxReceipt => {
  const fields = asObject(value, path)
  const status = objectOf(fields, 'status', path)
  const usage = asObject(memberOf(fields, 'ramUsage'), { above: path, key: 'ramUsage' })
  return {
    gasUsage: int64Of(fields, 'gasUsage', path),
    ramUsage: Object.entries(usage).map(
      ([payer, bytes]) => [payer, asInt64(bytes, { above: path, key: 'ramUsage' })] as const,
    ),
    statusCode: statusName(integerOf(status, 'code', { above: path, key: 'status' })),
    message: textOf(status, 'message', { above: path, key: 'status' }, OF_EXECUTION),
    returns: textsOf(fields, 'returns', path, OF_EXECUTION),
    receipts: listOf(fields, 'receipts', path, RECEIPTS).map((entry, index) => {
      const at: Path = { above: { above: path, key: 'receipts' }, key: index }
      const receipt = asObject(entry, at)
      return {
        funcName: textOf(receipt, 'funcName', at),
        content: textOf(receipt, 'content', at, OF_EXECUTION),
      }
    }),
  }
}
