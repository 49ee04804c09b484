import type { TxReceipt } from './block.ts'
import { OF_EXECUTION, RECEIPTS } from './bounds.ts'
import { decodeRawHead, decodeSignature, type RawHead } from './head.ts'
import {
  asInt64,
  asObject,
  base64Of,
  getMember,
  int64Of,
  type Path,
  parseAnswer,
  requireInteger,
  requireList,
  requireObject,
  requireText,
  requireTexts,
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
export const decodeReceipts = ({ receipts }: RawBlock, positions: readonly number[]): ReadonlyMap<number, TxReceipt> =>
  new Map(
    positions.flatMap(position => {
      const receipt = receipts[position]
      return receipt === undefined ? [] : [[position, receipt] as const]
    }),
  )

/** Decodes the answer of getRawBlockByNumber/N/true. Throws Failure 'bad_block'. */
export function decodeRawBlock(text: string): RawBlock {
  const answer = asObject(parseAnswer(text, 'getRawBlockByNumber'), { key: 'answer' })
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
  const fields = asObject(value, path)
  const each = <T>(key: string, read: (entry: unknown, at: Path) => T): readonly T[] =>
    requireList(fields, key, path).map((entry, index) => read(entry, { above: { above: path, key }, key: index }))
  return {
    time: int64Of(fields, 'time', path),
    expiration: int64Of(fields, 'expiration', path),
    gasRatio: int64Of(fields, 'gasRatio', path),
    gasLimit: int64Of(fields, 'gasLimit', path),
    delay: int64Of(fields, 'delay', path),
    chainId: requireInteger(fields, 'chain_id', path),
    reserved: base64Of(fields, 'reserved', path),
    signers: requireTexts(fields, 'signers', path),
    actions: each('actions', (entry, at) => {
      const action = asObject(entry, at)
      return {
        contract: requireText(action, 'contract', at),
        actionName: requireText(action, 'actionName', at),
        data: requireText(action, 'data', at),
      }
    }),
    amountLimit: each('amountLimit', (entry, at) => {
      const limit = asObject(entry, at)
      return { token: requireText(limit, 'token', at), value: requireText(limit, 'val', at) }
    }),
    signs: each('signs', decodeSignature),
    referredTx: base64Of(fields, 'referredTx', path),
    publisher: requireText(fields, 'publisher', path),
    publishSigns: each('publishSigns', decodeSignature),
  }
}

function decodeRawReceipt(value: unknown, path: Path): TxReceipt {
  const fields = asObject(value, path)
  const status = requireObject(fields, 'status', path)
  const usage = asObject(getMember(fields, 'ramUsage'), { above: path, key: 'ramUsage' })
  return {
    gasUsage: int64Of(fields, 'gasUsage', path),
    ramUsage: Object.entries(usage).map(
      ([payer, bytes]) => [payer, asInt64(bytes, { above: path, key: 'ramUsage' })] as const,
    ),
    statusCode: statusName(requireInteger(status, 'code', { above: path, key: 'status' })),
    message: requireText(status, 'message', { above: path, key: 'status' }, OF_EXECUTION),
    returns: requireTexts(fields, 'returns', path, OF_EXECUTION),
    receipts: requireList(fields, 'receipts', path, RECEIPTS).map((entry, index) => {
      const at: Path = { above: { above: path, key: 'receipts' }, key: index }
      const receipt = asObject(entry, at)
      return {
        funcName: requireText(receipt, 'funcName', at),
        content: requireText(receipt, 'content', at, OF_EXECUTION),
      }
    }),
  }
}
