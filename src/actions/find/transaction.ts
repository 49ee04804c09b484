import { toBaseTransaction } from '#chain/base-transaction.ts'
import { IN_TRANSACTION, WORD } from '#chain/bounds.ts'
import { transactionAt } from '#chain/decode-transaction.ts'
import { hash8 } from '#chain/hash.ts'
import { asObject, int64Of, objectOf, type Path, parseAnswer, textOf, wrong } from '#chain/json-fields.ts'
import { memberSpans } from '#chain/json-text.ts'
import { blocks } from '#indices/block.ts'
import { transactions } from '#indices/transaction.ts'
import type { Node } from '#node/port.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { askNode } from './node-answer.ts'
import { unknown } from './unknown.ts'

/** A transaction and how far it has come. */
export type FoundTransaction = {
  /** `PENDING` in the pool, `PACKED` in a block, `IRREVERSIBLE`. */
  readonly status: string
  /** `-1` until it is in an irreversible block. */
  readonly blockNumber: string
  /** The node's transaction object, compact JSON text. */
  readonly body: string
}

/** While its block is stored, a node says "tx not found" of a transaction for some milliseconds (chain/iost.md 10.2). */
const ASK_AGAIN_MS = 50

/**
 * The transaction of a hash: stored, else above the last published block or in the pool by the followed node's word.
 * Throws 'not_found' or 'loading' when there is none; 'unavailable' when no node can be asked: what may be in the pool is
 * not denied by who can not look.
 */
export const findTransaction = async (context: Context, hash: string): Promise<FoundTransaction> => {
  const { view, node } = context
  const found =
    (await stored(view, hash)) ?? (node === undefined ? undefined : await ofNode(context, node, hash))
  if (found === undefined) throw unknown(context, 'transaction', hash)
  return found
}

const stored = async (view: View, hash: string): Promise<FoundTransaction | undefined> => {
  const key = hash8(hash)
  const docs = await view.find(transactions, 'hash8', key)
  const doc = docs.find(candidate => candidate.hash === hash)
  if (doc !== undefined) return irreversible(doc.height, doc.body)
  for (const block of await view.find(blocks, 'base_hash8', key)) {
    const body = block.tx_hashes.split(' ', 1)[0] === hash ? toBaseTransaction(block) : undefined
    if (body !== undefined) return irreversible(block.height, body)
  }
  return undefined
}

const irreversible = (height: number, body: string): FoundTransaction => ({
  status: 'IRREVERSIBLE',
  blockNumber: String(height),
  body,
})

const ofNode = async (
  { view, signal, apart }: Pick<Context, 'view' | 'signal' | 'apart'>,
  node: Node,
  hash: string,
): Promise<FoundTransaction | undefined> => {
  const ask = () => askNode(node, `/getTxByHash/${hash}`, { at: view.at, signal, apart })
  let text = await ask()
  if (text === undefined) {
    await Bun.sleep(ASK_AGAIN_MS)
    text = await ask()
  }
  return text === undefined ? undefined : fromNode(text, hash, view.at.height)
}

/** What a node may say of a transaction. */
const STATUSES: ReadonlySet<string> = new Set(['PENDING', 'PACKED', 'IRREVERSIBLE'])

/** What a transaction in the pool is checked with: it has no receipt yet. */
const NO_RECEIPT = { gas_usage: 0, ram_usage: {}, status_code: '', message: '', returns: [], receipts: [] }

/**
 * Reads an answer of getTxByHash, every value within its bounds: it is the transaction that was asked for, and in no block
 * up to `height`, whose transactions are all stored. The rest is the node's word. Throws Failure 'bad_block'.
 */
const fromNode = (text: string, asked: string, height: number): FoundTransaction => {
  const path: Path = { key: 'answer' }
  const answer = asObject(parseAnswer(text, 'getTxByHash'), path)
  const own: Path = { above: path, key: 'transaction' }
  const fields = objectOf(answer, 'transaction', path)
  const span = memberSpans(text).get('transaction') ?? [0, 0]
  const checked = fields['tx_receipt'] === null ? { ...fields, tx_receipt: NO_RECEIPT } : fields
  const { body, hash } = transactionAt(text, span, checked, own, IN_TRANSACTION)
  if (hash !== asked) throw wrong({ above: own, key: 'hash' }, hash, `the requested transaction, ${asked}`)
  const status = textOf(answer, 'status', path, WORD)
  if (!STATUSES.has(status)) throw wrong({ above: path, key: 'status' }, status, 'a transaction status')
  const number = int64Of(answer, 'block_number', path)
  if (number <= BigInt(height) && (status === 'IRREVERSIBLE' || number !== -1n))
    throw wrong(
      { above: path, key: 'block_number' },
      String(number),
      `above block ${height}, up to which every transaction is stored`,
    )
  return { status, blockNumber: String(number), body }
}
