import { decodeTransaction } from '#chain/decode-transaction.ts'
import { Failure } from '#failure/failure.ts'
import { transactionId } from '#indices/position.ts'
import type { ListedRecord } from '#indices/record.ts'
import { badRequest } from '../request/refusals.ts'

/** The transactions that rows belong to, as JSON text, by transaction id. */
export type Bodies = (docs: readonly ListedRecord[]) => Promise<ReadonlyMap<string, string>>

/** The texts of a row. */
export type RowTexts = Pick<ListedRecord, 'contract' | 'action_name' | 'data' | 'return'>

/**
 * Most bytes of long texts in one answer. A single row has at most some 130 KB (a transaction has 64 KB, a return value
 * 64 KB), so a smaller page always fits.
 */
const OVERFLOW_BUDGET = 16 * 1024 * 1024
/** Transactions fetched at once: a few megabytes. */
const CHUNK = 16

/**
 * Texts of the rows that keep them in their transactions, by id of the row. Nothing is cut: a page whose long texts
 * exceed `budget` bytes is refused ('bad_request') with the size that would fit.
 */
export const textsOf = async (
  bodiesOf: Bodies,
  docs: readonly ListedRecord[],
  budget = OVERFLOW_BUDGET,
): Promise<ReadonlyMap<string, RowTexts>> => {
  const texts = new Map<string, RowTexts>()
  const long = docs.filter(({ overflow }) => overflow)
  let bytes = 0
  for (const part of chunksOf(long)) {
    const bodies = await bodiesOf(part)
    for (const doc of part) {
      const own = textsIn(bodies.get(transactionId(doc.height, doc.tx)), doc)
      bytes += Buffer.byteLength(own.data) + Buffer.byteLength(own.return)
      if (bytes > budget) throw tooLong(docs.length, texts.size, budget)
      texts.set(doc.id, own)
    }
  }
  return texts
}

/** Rows in runs that need at most `CHUNK` transactions. */
const chunksOf = (docs: readonly ListedRecord[]): readonly (readonly ListedRecord[])[] => {
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

/** The row's texts from its transaction: those of its action, or of its receipt. */
const textsIn = (body: string | undefined, doc: ListedRecord): RowTexts => {
  const tx = body === undefined ? undefined : decodeTransaction(body)
  const receipt = doc.receipt === undefined ? undefined : tx?.receipt.receipts[doc.receipt]
  if (receipt !== undefined) {
    const [contract = '', action_name = ''] = splitOnce(receipt.funcName)
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

const splitOnce = (name: string): readonly string[] => {
  const at = name.indexOf('/')
  return at < 0 ? [name] : [name.slice(0, at), name.slice(at + 1)]
}

const tooLong = (asked: number, fits: number, budget: number) => {
  const size = Math.max(1, Math.min(fits, Math.floor(asked / 2)))
  const limit = `${Math.floor(budget / 1024 / 1024)} MB`
  return badRequest(
    {
      en: `Parameter 'size': the long texts of this page exceed ${limit}; request at most ${size} rows.`,
      zh: `参数 'size'：本页的长文本超过 ${limit}；每页请最多请求 ${size} 行。`,
    },
    { parameter: 'size', size },
  )
}
