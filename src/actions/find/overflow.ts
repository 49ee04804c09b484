import { decodeTransaction } from '#chain/decode-transaction.ts'
import { partsOfFuncName } from '#chain/effects.ts'
import { Failure } from '#failure/failure.ts'
import { transactionId } from '#indices/position.ts'
import type { ListedRecord } from '#indices/record.ts'
import { badRequest } from '../request/refusals.ts'
import type { Text } from '../text.ts'

/** The transactions that contain these rows, as JSON text, by transaction id. */
export type Bodies = (docs: readonly ListedRecord[]) => Promise<ReadonlyMap<string, string>>

/** The texts of a row. */
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
  /** The parameter that sets the amount requested. */
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
  for (const part of inChunks(long)) {
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
export function inChunks(docs: readonly ListedRecord[]): readonly (readonly ListedRecord[])[] {
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
    const { contract, name: action_name } = partsOfFuncName(receipt.funcName)
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
