import { fromUnits, unitsAsRead, unitsOf } from '#chain/amount.ts'
import { Exact, type ExactJson, parseExact } from '#chain/json.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { RowTexts } from '../find/overflow.ts'

/** What a row says of itself beside its texts. All of it follows from the stored row, so nothing of it is stored. */
export type RowFacts = {
  /** Token that the row moved; absent: it moved none. */
  readonly token?: string | undefined
  /** Of a transfer or transferFreeze that moved something: its memo, which may be empty. */
  readonly memo?: string | undefined
  /** Of a transferFreeze: when the amount comes free, nanoseconds since 1970 (the chain checks nothing of it). */
  readonly locked_until?: string | undefined
  /** What moved, in token units; of a vote, a pledge or a RAM trade, the amount that the call names. */
  readonly amount?: string | undefined
}

/** The parties of a movement as its receipt names them, which need not be possible names. */
type Between = { readonly from: string; readonly to: string }

const NOTHING: RowFacts = {}
const IOST_DECIMALS = 8

/** Calls that have an amount though the token moves in rows of their own: of IOST, or bytes of RAM. */
const AMOUNT_OF: ReadonlyMap<string, 'iost' | 'bytes'> = new Map([
  ['vote_producer.iost/vote', 'iost'],
  ['vote_producer.iost/unvote', 'iost'],
  ['gas.iost/pledge', 'iost'],
  ['gas.iost/unpledge', 'iost'],
  ['ram.iost/buy', 'bytes'],
  ['ram.iost/sell', 'bytes'],
])
const WITH_AMOUNTS: ReadonlySet<string> = new Set(['vote_producer.iost', 'gas.iost', 'ram.iost'])

/** @param own the texts of the row, from its transaction where the row keeps none */
export const factsOf = (doc: Pick<ListedRecord, 'amount' | 'status_code'>, own: RowTexts): RowFacts => {
  if (doc.amount !== undefined) return movementFacts(doc.amount, own)
  return WITH_AMOUNTS.has(own.contract) ? callFacts(doc, own) : NOTHING
}

/** A receipt of a transfer without escapes, as nearly all are: its token and its memo. */
const PLAIN_TRANSFER =
  /^\["([ !#-[\]-\uffff]*)","[ !#-[\]-\uffff]*","[ !#-[\]-\uffff]*","[ !#-[\]-\uffff]*","([ !#-[\]-\uffff]*)"\]$/

const movementFacts = (amount: string, { action_name, data }: RowTexts): RowFacts => {
  // Most rows of a page are transfers: matched in a fifth of the time that all arguments take.
  const plain = action_name === 'transfer' ? PLAIN_TRANSFER.exec(data) : null
  if (plain !== null) {
    const [, token = '', memo = ''] = plain
    return { amount, token, memo: memo.toWellFormed(), locked_until: undefined }
  }
  const args = argumentsIn(data)
  const token = textAt(args, 0)
  // Written out, since each page of a list has such rows by dozens.
  switch (action_name) {
    case 'transfer':
      return { amount, token, memo: memoAt(args, 4), locked_until: undefined }
    case 'transferFreeze':
      return { amount, token, memo: memoAt(args, 5), locked_until: digitsAt(args, 4) }
    default:
      return { amount, token, memo: undefined, locked_until: undefined }
  }
}

/** Who gave and who got the token of a row that moved one, as its receipt names them; '': nobody. */
export const partiesOf = ({ action_name, data }: Pick<RowTexts, 'action_name' | 'data'>): Between => {
  const args = argumentsIn(data)
  if (action_name === 'issue') return { from: '', to: textAt(args, 1) }
  const isTransfer = action_name === 'transfer' || action_name === 'transferFreeze'
  return { from: textAt(args, 1), to: isTransfer ? textAt(args, 2) : '' }
}

/** A call that was carried out has a text that it returned; one that was only delayed has none. */
const callFacts = ({ status_code }: Pick<ListedRecord, 'status_code'>, own: RowTexts): RowFacts => {
  const kind = AMOUNT_OF.get(`${own.contract}/${own.action_name}`)
  if (kind === undefined || status_code !== 'SUCCESS' || own.return === '') return NOTHING
  const args = argumentsIn(own.data)
  const text = kind === 'bytes' ? digitsAt(args, 2) : textAt(args, 2)
  const decimals = kind === 'bytes' ? 0 : IOST_DECIMALS
  // gas.iost is a part of the node and reads as it does; the other contracts read as JavaScript does.
  const units = (own.contract === 'gas.iost' ? unitsAsRead : unitsOf)(text, decimals)
  return units === undefined ? NOTHING : { amount: fromUnits(units, decimals) }
}

const argumentsIn = (data: string): readonly ExactJson[] => {
  const texts = plainTexts(data)
  if (texts !== undefined) return texts
  try {
    const value = parseExact(data)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/** The elements of an array of texts without escapes, in a fraction of the time that parsing takes; undefined: it is another text. */
const plainTexts = (data: string): readonly string[] | undefined => {
  if (!data.startsWith('["') || !data.endsWith('"]') || NO_PLAIN_TEXT.test(data)) return undefined
  const texts = data.slice(2, -2).split('","')
  // A quote that is left stands beside something that is no text.
  return texts.some(text => text.includes('"')) ? undefined : texts
}

/** The backslash, and what JSON forbids within texts. */
const NO_PLAIN_TEXT = /[^ !"#-[\]-\uffff]/

const textAt = (args: readonly ExactJson[], at: number): string => {
  const value = args[at]
  return typeof value === 'string' ? value : ''
}

/** The chain replaces half surrogate pairs of what a signer wrote. */
const memoAt = (args: readonly ExactJson[], at: number): string => textAt(args, at).toWellFormed()

const digitsAt = (args: readonly ExactJson[], at: number): string => {
  const value = args[at]
  return value instanceof Exact ? value.text : typeof value === 'number' ? String(value) : ''
}
