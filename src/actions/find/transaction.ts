import { unpackBaseTransaction } from '#chain/base-transaction.ts'
import type { Block, Transaction } from '#chain/block.ts'
import { IN_TRANSACTION, WORD } from '#chain/bounds.ts'
import { isWholeByItself, requireWhole } from '#chain/check.ts'
import { decodeRawBlock } from '#chain/decode.ts'
import { decodeWrittenTransaction } from '#chain/decode-transaction.ts'
import { hash8 } from '#chain/hash.ts'
import { memberSpans } from '#chain/json.ts'
import {
  expectObject,
  invalidValue,
  type Path,
  parseAnswer,
  requireInt64,
  requireObject,
  requireText,
} from '#chain/json-fields.ts'
import { decodeChainText } from '#chain/receipt-hash.ts'
import { highestPossible } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { transactions } from '#indices/transaction.ts'
import type { Node } from '#node/port.ts'
import type { Published, View } from '#store/port.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { Context } from '../define.ts'
import {
  type FoundTransaction,
  fetchNodeBlock,
  findBranchTransaction,
  markOffBranch,
  NO_BLOCK,
  type TransactionPosition,
} from './block.ts'
import { unknown } from './loading.ts'
import { askNode, OK, WITHIN_MS } from './node-answer.ts'

/** Milliseconds for which a result is shared, as for answers of `/rpc/`: the chain makes a block every 500. */
const KEPT_MS = 500

type Lookup = {
  readonly found: Promise<FoundTransaction | undefined>
  /** When it had its result; infinite until then, so that callers share a look-up of a slow node. */
  ended: number
}
const ofNodes = new WeakMap<Node, Map<string, Lookup>>()

type NodeContext = Pick<Context, 'view' | 'signal' | 'waitForNode' | 'clock'>

/**
 * Looks up a transaction at a node. Equal look-ups at one published height share one that is pending or has
 * just found its transaction. A result without a transaction is not kept. After a failure of a shared look-up,
 * each caller makes its own.
 */
async function shareLookup(context: NodeContext, node: Node, hash: string): Promise<FoundTransaction | undefined> {
  const { view, clock, signal } = context
  const name = `${hash} ${view.at.height} ${view.at.hash}`
  const lookups = ofNodes.get(node) ?? new Map<string, Lookup>()
  ofNodes.set(node, lookups)
  const before = clock.elapsed() - KEPT_MS
  for (const [name, { ended }] of lookups) if (ended <= before) lookups.delete(name)
  const known = lookups.get(name)
  if (known !== undefined) {
    const shared = await awaitLimited(known.found, { signal }).then(
      found => ({ found }),
      () => undefined,
    )
    if (shared !== undefined) return shared.found
    signal.throwIfAborted()
  }
  const lookup: Lookup = { found: findNodeTransaction(context, node, hash), ended: Number.POSITIVE_INFINITY }
  const forget = (): void => {
    if (lookups.get(name) === lookup) lookups.delete(name)
  }
  lookups.set(name, lookup)
  lookup.found.then(found => {
    lookup.ended = clock.elapsed()
    if (found === undefined) forget()
  }, forget)
  return lookup.found
}

/** Delay before a retry: while a node stores a block, it answers "tx not found" for its transactions. */
const ASK_AGAIN_MS = 50

/**
 * A transaction that is not stored, from the followed node. If the node names its block, the transaction is
 * verified: receipt and position are taken from the block, whose hash is checked. In the pool, or in a block
 * that the node does not name, it is unverified, as its status shows. undefined: the node does not know it.
 * Throws Failure 'bad_block', 'unavailable'.
 */
async function findNodeTransaction(
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
  return height === undefined
    ? { status, blockNumber: NO_BLOCK, body }
    : await proveTransaction(context, node, { hash, height })
}

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
  const answer = expectObject(parseAnswer(text, 'getTxByHash'), path)
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
  return { status, body, height: toBlockHeight(requireInt64(answer, 'block_number', path), status, moment) }
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
async function proveTransaction(
  context: NodeContext,
  node: Node,
  { hash, height }: { readonly hash: string; readonly height: number },
): Promise<FoundTransaction> {
  const answer = await fetchNodeBlock(context, node, { height })
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
  const text = decodeChainText(body)
  release()
  if (status === OK) requireWhole(block, decodeRawBlock(text), transaction)
}

/**
 * The transaction with a hash: from the store, otherwise from a block of the followed branch, otherwise from
 * the node: in an irreversible block beyond it, or in the pool. Throws 'not_found' or 'loading' when there is
 * none, and 'unavailable' when no node can be asked, because it may be in the pool.
 */
export async function findTransaction(context: Context, hash: string): Promise<FoundTransaction> {
  const found = (await findTransactions(context, [hash])).get(hash)
  if (found === undefined) throw unknown(context, 'transaction', hash)
  return found
}

/** Number of transactions requested from a node at once. */
const ASKED_AT_ONCE = 8

/**
 * The transactions with these hashes, found together. Hashes that are not found are missing from the result.
 * Throws 'unavailable' when a transaction is not stored and no node can be asked.
 */
export async function findTransactions(
  context: Context,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, FoundTransaction>> {
  const { view, node } = context
  const found = new Map(await findStoredTransactions(view, [...new Set(hashes)]))
  for (const hash of hashes) {
    const one = found.has(hash) ? undefined : findBranchTransaction(context, hash)
    if (one !== undefined) found.set(hash, one)
  }
  const others = [...new Set(hashes)].filter(hash => !found.has(hash))
  if (node === undefined || others.length === 0) return found
  // A call takes one permit of the queue for nodes, whatever the number of its requests; with several, a call
  // could be refused by its own requests.
  const asking: Context = { ...context, waitForNode: ask => ask() }
  await context.waitForNode(async () => {
    for (let at = 0; at < others.length; at += ASKED_AT_ONCE) {
      const ask = async (hash: string) => [hash, await shareLookup(asking, node, hash)] as const
      for (const [hash, one] of await Promise.all(others.slice(at, at + ASKED_AT_ONCE).map(ask)))
        if (one !== undefined) found.set(hash, markOffBranch(context, one))
    }
  })
  return found
}

async function findStoredTransactions(
  view: View,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, FoundTransaction>> {
  const found = new Map<string, FoundTransaction>()
  const wanted = new Set(hashes)
  const docs = await view.findAny(transactions, 'hash8', toHashKeys(hashes), some =>
    areHashesFound(
      hashes,
      some.map(({ hash }) => hash),
    ),
  )
  for (const { hash, height, tx, body } of docs)
    if (wanted.has(hash)) found.set(hash, toIrreversible(body, { height, tx }))
  const others = hashes.filter(hash => !found.has(hash))
  if (others.length === 0) return found
  const made = await view.findAny(blocks, 'base_hash8', toHashKeys(others), some =>
    areHashesFound(others, some.map(getBaseHash)),
  )
  for (const block of made) {
    const hash = getBaseHash(block)
    const body = wanted.has(hash) ? unpackBaseTransaction(block) : undefined
    if (body !== undefined) found.set(hash, toIrreversible(body, { height: block.height, tx: 0 }))
  }
  return found
}

const getBaseHash = ({ tx_hashes }: Pick<BlockDoc, 'tx_hashes'>): string => tx_hashes.split(' ', 1)[0] ?? ''

/** Whether all hashes are found: other hashes may have the same first bytes. */
function areHashesFound(hashes: readonly string[], found: readonly string[]): boolean {
  const there = new Set(found)
  return hashes.every(hash => there.has(hash))
}

/** The first bytes of hashes, without duplicates. */
const toHashKeys = (hashes: readonly string[]): readonly bigint[] => [...new Set(hashes.map(hash8))]

const toIrreversible = (body: string, place: TransactionPosition): FoundTransaction => ({
  status: 'IRREVERSIBLE',
  blockNumber: String(place.height),
  body,
  place,
})
