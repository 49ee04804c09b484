import { formatUnits, parseUnits, parseUnitsLeniently } from '#chain/amount.ts'
import { isBasePlace, unpackBaseTransaction } from '#chain/base-transaction.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { parseChainArguments, splitFuncName } from '#chain/effects.ts'
import { Exact, type ExactJson } from '#chain/json.ts'
import { findStakes, STAKE_KEEPERS } from '#chain/stake.ts'
import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/list.ts'
import type { ListedRecord } from '#indices/record.ts'
import { ISSUER_FIELD } from '#indices/token721.ts'
import { transactions } from '#indices/transaction.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import type { Text } from '../define.ts'
import { badRequest } from '../request/refusals.ts'

/** The node's transaction objects that contain these rows, as JSON text, by transaction id. */
export async function readBodies(view: View, docs: readonly ListedRecord[]): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>()
  const plain = docs.filter(doc => !isBasePlace(doc)).map(({ height, tx }) => transactionId(height, tx))
  for (const doc of await view.getMany(transactions, [...new Set(plain)]))
    if (doc !== undefined) bodies.set(doc.id, doc.body)
  const heights = docs.filter(isBasePlace).map(({ height }) => height)
  for (const block of await view.getMany(blocks, [...new Set(heights)].map(blockId))) {
    const body = block === undefined ? undefined : unpackBaseTransaction(block)
    if (block !== undefined && body !== undefined) bodies.set(transactionId(block.height, 0), body)
  }
  return bodies
}

/** The transactions that contain these rows, as JSON text, by transaction id. */
export type Bodies = (docs: readonly ListedRecord[]) => Promise<ReadonlyMap<string, string>>

export type RowTexts = Pick<ListedRecord, 'contract' | 'action_name' | 'data' | 'return'>

/**
 * Maximum size of long texts in one answer, in bytes. A single row has at most some 130 KB (a transaction has
 * 64 KB, a return value 64 KB), so a smaller page always fits.
 */
export const OVERFLOW_BUDGET = 16 * 1024 * 1024
/** Number of transactions fetched at once: a few megabytes. */
const CHUNK = 16

/** A parameter with which a caller can request less when the texts are too long. */
type OverflowParameter = {
  readonly parameter: string
  /** The amount, in the unit of the parameter, that these rows correspond to. */
  countOf(docs: readonly ListedRecord[]): number
  /** The refusal, after the name of the parameter: the limit, and the amount that would fit. */
  refusal(limit: string, most: number): Text
}

/** A page of a list; parameter 'size' is its number of rows. */
const PAGE: OverflowParameter = {
  parameter: 'size',
  countOf: docs => docs.length,
  refusal: (limit, most) => ({
    en: `the long texts of this page exceed ${limit}; request at most ${most} rows.`,
    zh: `本页的长文本超过 ${limit}；每页请最多请求 ${most} 行。`,
  }),
}

/** Transactions requested by their hashes. The rows of each one are adjacent. */
export const TRANSACTIONS: OverflowParameter = {
  parameter: 'tx_hashes',
  countOf: docs => new Set(docs.map(({ height, tx }) => transactionId(height, tx))).size,
  refusal: (limit, most) => ({
    en: `the long texts of these transactions exceed ${limit}; ask for fewer hashes: at most ${most}.`,
    zh: `这些交易的长文本超过 ${limit}；请减少哈希的数量，每次最多 ${most} 个。`,
  }),
}

/**
 * Texts of the rows that have them only in their transactions, by id of the row. Nothing is truncated: rows
 * whose long texts exceed `budget` bytes are refused ('bad_request'), with the amount that would fit.
 */
export async function readRowTexts(
  bodiesOf: Bodies,
  docs: readonly ListedRecord[],
  { asked = PAGE, budget = OVERFLOW_BUDGET }: { readonly asked?: OverflowParameter; readonly budget?: number } = {},
): Promise<ReadonlyMap<string, RowTexts>> {
  const texts = new Map<string, RowTexts>()
  const long = docs.filter(({ overflow }) => overflow)
  let bytes = 0
  for (const part of splitByTransactions(long)) {
    const bodies = await bodiesOf(part)
    for (const doc of part) {
      const own = extractRowTexts(bodies.get(transactionId(doc.height, doc.tx)), doc)
      bytes += Buffer.byteLength(own.data) + Buffer.byteLength(own.return)
      if (bytes > budget) {
        const { countOf } = asked
        const read = countOf(long.slice(0, texts.size + 1))
        throw tooLong(asked, { all: countOf(docs), read }, budget)
      }
      texts.set(doc.id, own)
    }
  }
  return texts
}

/** Rows in chunks that need at most `CHUNK` transactions each. */
function splitByTransactions(docs: readonly ListedRecord[]): readonly (readonly ListedRecord[])[] {
  const chunks: ListedRecord[][] = []
  let ids = new Set<string>()
  for (const doc of docs) {
    const id = transactionId(doc.height, doc.tx)
    let last = chunks.at(-1)
    if (last === undefined || (!ids.has(id) && ids.size === CHUNK)) {
      last = []
      chunks.push(last)
      ids = new Set()
    }
    ids.add(id)
    last.push(doc)
  }
  return chunks
}

/** The row's texts from its transaction: those of its receipt if it has one, otherwise of its action. */
function extractRowTexts(body: string | undefined, doc: ListedRecord): RowTexts {
  const tx = body === undefined ? undefined : decodeTransaction(body)
  const receipt = doc.receipt === undefined ? undefined : tx?.receipt.receipts[doc.receipt]
  if (receipt !== undefined) {
    const { contract, name: action_name } = splitFuncName(receipt.funcName)
    return { contract, action_name, data: receipt.content, return: '' }
  }
  const action = doc.receipt === undefined ? tx?.actions[doc.index] : undefined
  if (tx === undefined || action === undefined)
    throw new Failure('defect', `The texts of record ${doc.id} are missing in its transaction.`)
  return {
    contract: action.contract,
    action_name: action.actionName,
    data: action.data,
    return: tx.receipt.returns[doc.index] ?? '',
  }
}

/** The amount requested, and the amount whose long texts were read until the budget was exceeded. */
type Counts = { readonly all: number; readonly read: number }

/** The refusal of a page whose texts exceed the budget of one answer. */
export const pageTooLong = (counts: Counts): Failure => tooLong(PAGE, counts, OVERFLOW_BUDGET)

function tooLong(
  { parameter, refusal }: Pick<OverflowParameter, 'parameter' | 'refusal'>,
  { all, read }: Counts,
  budget: number,
): Failure {
  const most = Math.max(1, Math.min(read - 1, Math.floor(all / 2)))
  const { en, zh } = refusal(`${Math.floor(budget / 1024 / 1024)} MB`, most)
  // The details have no `parameter`: it would mean that the parameter's value is invalid.
  return badRequest({ en: `Parameter '${parameter}': ${en}`, zh: `参数 '${parameter}'：${zh}` }, { most })
}

/** The ids of those rows that moved IOST into a vote or a pledge or out of it (`findStakes`). */
export async function findStakeRows(bodiesOf: Bodies, docs: readonly ListedRecord[]): Promise<ReadonlySet<string>> {
  const stakes = new Set<string>()
  for (const part of splitByTransactions(
    docs.filter(({ amount, from, to }) => amount !== undefined && (STAKE_KEEPERS.has(from) || STAKE_KEEPERS.has(to))),
  )) {
    const bodies = await bodiesOf(part)
    const tests = new Map([...bodies].map(([id, body]) => [id, findStakes(decodeTransaction(body))]))
    for (const doc of part) {
      const isStake = tests.get(transactionId(doc.height, doc.tx))
      if (isStake === undefined) throw missingData(`The transaction of record '${doc.id}' is not stored.`)
      if (isStake(doc)) stakes.add(doc.id)
    }
  }
  return stakes
}

/** Facts about a row besides its texts. They are derived from the stored row, so they are not stored. */
export type RowFacts = {
  /** Token that the row moved; absent: it moved none. */
  readonly token?: string | undefined
  /** Memo of a transfer or transferFreeze that moved something; may be empty. */
  readonly memo?: string | undefined
  /** Time at which the amount of a transferFreeze is released, nanoseconds since 1970 (not checked by the chain). */
  readonly locked_until?: string | undefined
  /** The amount moved, in token units; for a vote, a pledge or a RAM trade, the amount in the call. */
  readonly amount?: string | undefined
  /** Collection and id of the NFT that an action of token721.iost moved or issued. */
  readonly collection?: string | undefined
  readonly token_id?: string | undefined
}

/** The parties of a movement as named in its receipt; they may be invalid names. */
type Between = { readonly from: string; readonly to: string }

const NOTHING: RowFacts = {}
const IOST_DECIMALS = 8

/** Calls with an amount, of IOST or in bytes of RAM, whose token movements are separate rows. */
const AMOUNT_OF: ReadonlyMap<string, 'iost' | 'bytes'> = new Map([
  ['vote_producer.iost/vote', 'iost'],
  ['vote_producer.iost/unvote', 'iost'],
  ['gas.iost/pledge', 'iost'],
  ['gas.iost/unpledge', 'iost'],
  ['ram.iost/buy', 'bytes'],
  ['ram.iost/sell', 'bytes'],
])
const WITH_AMOUNTS: ReadonlySet<string> = new Set(['vote_producer.iost', 'gas.iost', 'ram.iost'])

/** @param own the texts of the row, from its transaction if the row does not have them */
export function extractRowFacts(doc: Pick<ListedRecord, 'amount' | 'status_code'>, own: RowTexts): RowFacts {
  const { amount } = doc
  if (amount !== undefined) {
    // Most rows of a page are transfers. The match takes a fifth of the time of parsing all arguments.
    const plain = own.action_name === 'transfer' ? PLAIN_TRANSFER.exec(own.data) : null
    if (plain === null) return movementFacts(amount, own)
    const [, token = '', memo = ''] = plain
    return { amount, token, memo: memo.toWellFormed(), locked_until: undefined }
  }
  if (own.contract === 'token721.iost') return nftFacts(doc, own)
  return WITH_AMOUNTS.has(own.contract) ? callFacts(doc, own) : NOTHING
}

/** A receipt of a transfer without escapes, like nearly all receipts. Captures its token and its memo. */
const PLAIN_TRANSFER =
  /^\["([ !#-[\]-\uffff]*)","[ !#-[\]-\uffff]*","[ !#-[\]-\uffff]*","[ !#-[\]-\uffff]*","([ !#-[\]-\uffff]*)"\]$/

function movementFacts(amount: string, { action_name, data }: RowTexts): RowFacts {
  const args = parseRowArguments(data)
  const token = pickText(args, 0)
  // Written out for speed, because each page of a list has dozens of such rows.
  switch (action_name) {
    case 'transfer':
      return { amount, token, memo: pickText(args, 4), locked_until: undefined }
    case 'transferFreeze':
      return { amount, token, memo: pickText(args, 5), locked_until: pickDigits(args, 4) }
    default:
      return { amount, token, memo: undefined, locked_until: undefined }
  }
}

/** Sender and recipient of a row that moved a token, as named in its receipt; '': none. */
export function extractParties({ action_name, data }: Pick<RowTexts, 'action_name' | 'data'>): Between {
  const args = parseRowArguments(data)
  if (action_name === 'issue') return { from: '', to: pickText(args, 1) }
  const isTransfer = action_name === 'transfer' || action_name === 'transferFreeze'
  return { from: pickText(args, 1), to: isTransfer ? pickText(args, 2) : '' }
}

/** A call that was carried out has a return value; a delayed call has none. */
function callFacts({ status_code }: Pick<ListedRecord, 'status_code'>, own: RowTexts): RowFacts {
  const kind = AMOUNT_OF.get(`${own.contract}/${own.action_name}`)
  if (kind === undefined || status_code !== 'SUCCESS' || own.return === '') return NOTHING
  const args = parseRowArguments(own.data)
  const text = kind === 'bytes' ? pickDigits(args, 2) : pickText(args, 2)
  const decimals = kind === 'bytes' ? 0 : IOST_DECIMALS
  // gas.iost is part of the node and parses amounts like it; the other contracts parse them like JavaScript.
  const units = (own.contract === 'gas.iost' ? parseUnitsLeniently : parseUnits)(text, decimals)
  return units === undefined ? NOTHING : { amount: formatUnits(units, decimals) }
}

/** The id of an issued NFT is what the action returned. The right to issue is given like an NFT. */
function nftFacts({ status_code }: Pick<ListedRecord, 'status_code'>, own: RowTexts): RowFacts {
  if (status_code !== 'SUCCESS' || own.return === '') return NOTHING
  const args = parseRowArguments(own.data)
  const collection = pickText(args, 0)
  if (own.action_name === 'issue') return { collection, token_id: pickText(parseRowArguments(own.return), 0) }
  const token_id = pickText(args, 3)
  return own.action_name === 'transfer' && token_id !== ISSUER_FIELD ? { collection, token_id } : NOTHING
}

const parseRowArguments = (data: string): readonly ExactJson[] => plainTexts(data) ?? parseChainArguments(data) ?? []

/** The elements of an array of strings without escapes, faster than parsing; undefined: the text is not one. */
function plainTexts(data: string): readonly string[] | undefined {
  if (!data.startsWith('["') || !data.endsWith('"]') || NO_PLAIN_TEXT.test(data)) return undefined
  const texts = data.slice(2, -2).split('","')
  // A remaining quote belongs to an element that is not a string.
  return texts.some(text => text.includes('"')) ? undefined : texts
}

/** The backslash, and the characters that JSON forbids within strings. */
const NO_PLAIN_TEXT = /[^ !"#-[\]-\uffff]/

function pickText(args: readonly ExactJson[], at: number): string {
  const value = args[at]
  return typeof value === 'string' ? value : ''
}

function pickDigits(args: readonly ExactJson[], at: number): string {
  const value = args[at]
  return value instanceof Exact ? value.text : typeof value === 'number' ? String(value) : ''
}
