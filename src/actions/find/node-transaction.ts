import type { Block, Transaction } from '#chain/block.ts'
import { IN_TRANSACTION, WORD } from '#chain/bounds.ts'
import { isWholeByItself, requireWhole } from '#chain/check.ts'
import { decodeWrittenTransaction } from '#chain/decode-transaction.ts'
import {
  asObject,
  int64Of,
  invalidValue,
  type Path,
  parseAnswer,
  requireObject,
  requireText,
} from '#chain/json-fields.ts'
import { memberSpans } from '#chain/json-text.ts'
import { decodeRawBlock } from '#chain/raw-block.ts'
import { textOfBytes } from '#chain/receipt-hash.ts'
import { highestPossible } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Context } from '../define.ts'
import { nodeBlock } from './block.ts'
import { type FoundTransaction, NO_BLOCK } from './found-transaction.ts'
import { askNode, OK, WITHIN_MS } from './node-answer.ts'

type NodeContext = Pick<Context, 'view' | 'signal' | 'waitForNode' | 'clock'>

/**
 * Delay before a retry: while a node stores a block, it answers "tx not found" for its transactions for some
 * milliseconds.
 */
const ASK_AGAIN_MS = 50

/**
 * A transaction that is not stored, from the followed node. If the node names its block, the transaction is
 * verified: receipt and position are taken from the block, whose hash is checked. In the pool, or in a block
 * that the node does not name, it is unverified, as its status shows. undefined: the node does not know it.
 * Throws Failure 'bad_block', 'unavailable'.
 */
export async function transactionOfNode(
  context: NodeContext,
  node: Node,
  hash: string,
): Promise<FoundTransaction | undefined> {
  const { view, signal, waitForNode, clock } = context
  const ask = () => askNode(node, `/getTxByHash/${hash}`, { at: view.at, signal, waitForNode })
  let text = await ask()
  if (text === undefined) {
    await clock.sleep(ASK_AGAIN_MS, signal)
    text = await ask()
  }
  if (text === undefined) return undefined
  const { status, body, height } = parseNodeTransaction(text, hash, { at: view.at, now: clock.now() })
  return height === undefined ? { status, blockNumber: NO_BLOCK, body } : await proved(context, node, { hash, height })
}

/** The statuses that a node may report for a transaction. */
const STATUSES: ReadonlySet<string> = new Set(['PENDING', 'PACKED', 'IRREVERSIBLE'])

/** Placeholder receipt for checking a transaction in the pool, which has none yet. */
const NO_RECEIPT = { gas_usage: 0, ram_usage: {}, status_code: '', message: '', returns: [], receipts: [] }

type NodeTransaction = {
  readonly status: string
  readonly body: string
  /** Height of its block, if the node names one. */
  readonly height: number | undefined
}

/** The published block, and the current time in milliseconds since 1970. */
type Moment = { readonly at: Published; readonly now: number }

/**
 * Reads an answer of getTxByHash and checks every value. It must be the requested transaction and have a
 * receipt unless it is in the pool. Its block must be above `at`, because all transactions up to there are
 * stored, and not too high to exist yet. Throws Failure 'bad_block'.
 */
function parseNodeTransaction(text: string, requestedHash: string, moment: Moment): NodeTransaction {
  const path: Path = { key: 'answer' }
  const answer = asObject(parseAnswer(text, 'getTxByHash'), path)
  const own: Path = { above: path, key: 'transaction' }
  const fields = requireObject(answer, 'transaction', path)
  const span = memberSpans(text).get('transaction') ?? [0, 0]
  const status = requireText(answer, 'status', path, WORD)
  if (!STATUSES.has(status)) throw invalidValue({ above: path, key: 'status' }, status, 'a transaction status')
  const isPending = status === 'PENDING'
  if (isPending !== (fields['tx_receipt'] === null))
    throw invalidValue(
      { above: own, key: 'tx_receipt' },
      isPending ? 'a receipt' : 'null',
      `what a transaction that is ${status} has`,
    )
  const checked = isPending ? { ...fields, tx_receipt: NO_RECEIPT } : fields
  const { body, hash } = decodeWrittenTransaction({ text, span, value: checked }, own, IN_TRANSACTION)
  if (hash !== requestedHash)
    throw invalidValue({ above: own, key: 'hash' }, hash, `the requested transaction, ${requestedHash}`)
  return { status, body, height: toBlockHeight(int64Of(answer, 'block_number', path), status, moment) }
}

function toBlockHeight(number: bigint, status: string, { at, now }: Moment): number | undefined {
  const isNone = String(number) === NO_BLOCK
  if (isNone && status !== 'IRREVERSIBLE') return undefined
  const refuse = (rule: string): Failure =>
    invalidValue({ above: { key: 'answer' }, key: 'block_number' }, String(number), rule)
  if (status === 'PENDING') throw refuse('-1, as of every transaction in the pool')
  if (number <= BigInt(at.height)) throw refuse(`above block ${at.height}, up to which every transaction is stored`)
  if (Number(number) > highestPossible(at, now)) throw refuse('a block for which there has been time yet')
  return Number(number)
}

/** The transaction as found in the block that the node named. */
async function proved(
  context: NodeContext,
  node: Node,
  { hash, height }: { readonly hash: string; readonly height: number },
): Promise<FoundTransaction> {
  const answer = await nodeBlock(context, node, { height })
  const transaction = answer?.block.transactions.find(each => each.hash === hash)
  if (answer === undefined || transaction === undefined)
    throw new Failure('bad_block', `The node names block ${height} for ${hash}, which is not in that block.`, {
      details: { height },
    })
  await proveText(context, node, { block: answer.block, transaction })
  const { status } = answer
  return status === 'IRREVERSIBLE'
    ? { status, blockNumber: String(height), body: transaction.body }
    : { status: 'PACKED', blockNumber: NO_BLOCK, body: transaction.body }
}

/** Verifies the text of a transaction against the raw block, if the node returns that. Throws Failure 'bad_block'. */
async function proveText(
  { signal, waitForNode }: NodeContext,
  node: Node,
  { block, transaction }: { readonly block: Block; readonly transaction: Transaction },
): Promise<void> {
  if (isWholeByItself(block) || transaction === block.transactions[0]) return
  const { status, body, release } = await waitForNode(() =>
    node.get(`/getRawBlockByNumber/${block.height}/true`, { signal, withinMs: WITHIN_MS }),
  )
  const text = textOfBytes(body)
  release()
  if (status === OK) requireWhole(block, decodeRawBlock(text), transaction)
}
