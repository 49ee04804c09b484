import { fromUnits, parseUnits, unitsAsRead } from '#chain/amount.ts'
import { argumentsAsRead } from '#chain/arguments.ts'
import { Exact, type ExactJson } from '#chain/json.ts'
import type { ListedRecord } from '#indices/record.ts'
import { ISSUER_FIELD } from '#indices/token721.ts'
import type { RowTexts } from '../find/overflow.ts'

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
  const units = (own.contract === 'gas.iost' ? unitsAsRead : parseUnits)(text, decimals)
  return units === undefined ? NOTHING : { amount: fromUnits(units, decimals) }
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

const parseRowArguments = (data: string): readonly ExactJson[] => plainTexts(data) ?? argumentsAsRead(data) ?? []

/**
 * The elements of an array of strings without escapes, in a fraction of the time of parsing; undefined: the
 * text is not one.
 */
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
