import type { Text } from '#actions/define.ts'
import { parseChainArguments } from '#chain/effects.ts'
import { Exact } from '#chain/json.ts'
import { isNanoseconds } from './time.ts'

/** A row of a list of records. */
export type RecordRow = {
  readonly seq?: number | undefined
  readonly contract?: string | undefined
  readonly action_name: string
  readonly data: readonly unknown[]
  readonly block: string
  readonly tx_hash: string
  readonly from: string
  readonly to: string
  readonly created_at: string
  readonly status_code: string
  readonly amount?: string | undefined
  readonly token?: string | undefined
  readonly locked_until?: string | undefined
  readonly collection?: string | undefined
  readonly token_id?: string | undefined
}

/** The tokens that a record moved. */
type Moved = { readonly amount: string; readonly token: string }

/**
 * Amount and token of a movement; undefined: the record moved none. Calls with an amount and no token moved
 * it in other records.
 */
export const findMoved = ({ amount, token }: Pick<RecordRow, 'amount' | 'token'>): Moved | undefined =>
  amount === undefined || token === undefined ? undefined : { amount, token }

/** Calls of the RAM market, whose amount is in bytes. All other amounts without a token are in IOST. */
const IN_BYTES: ReadonlySet<string> = new Set(['buy', 'sell'])

/** The amount in a call whose tokens move in other records: IOST of a vote or a pledge, bytes of RAM. */
export const findCalledAmount = ({
  amount,
  token,
  action_name,
}: Pick<RecordRow, 'amount' | 'token' | 'action_name'>):
  | { readonly amount: string; readonly unit: 'iost' | 'bytes' }
  | undefined =>
  amount === undefined || token !== undefined
    ? undefined
    : { amount, unit: IN_BYTES.has(action_name) ? 'bytes' : 'iost' }

/**
 * The direction of a movement for an owner. `none`: between other owners, for instance when the owner issued
 * or signed it.
 */
type MovementDirection = 'in' | 'out' | 'self' | 'none'

/** Argument positions of the two parties in calls of token.iost; undefined: there is no sender, or no recipient. */
const PARTIES: ReadonlyMap<string, readonly [from: number | undefined, to: number | undefined]> = new Map([
  ['transfer', [1, 2]],
  ['transferFreeze', [1, 2]],
  ['issue', [undefined, 1]],
  ['destroy', [1, undefined]],
])

export const WAYS: Readonly<Record<MovementDirection, Text>> = {
  in: { en: 'In', zh: '转入' },
  out: { en: 'Out', zh: '转出' },
  self: { en: 'Self', zh: '转给自己' },
  none: { en: 'Others', zh: '他人之间' },
}

type MovingRow = Pick<RecordRow, 'action_name' | 'amount' | 'token' | 'data' | 'from' | 'to' | 'collection'>

/**
 * Sender and recipient of a movement, by its arguments (`""`: none); of other rows, the caller and the contract. Where
 * a party of a movement is no possible name, `from` and `to` of the API are the publisher and the contract.
 */
export function getRowParties(row: MovingRow): { readonly from: string; readonly to: string } {
  const places = PARTIES.get(row.action_name)
  if (findMoved(row) === undefined || places === undefined) return { from: row.from, to: row.to }
  const nameAt = (at: number | undefined): string => (at === undefined ? '' : String(row.data[at]))
  return { from: nameAt(places[0]), to: nameAt(places[1]) }
}

/**
 * The direction of a movement for an owner. Only its parties count, since a row may also be in the list of an
 * issuer or a signer. undefined: the row moved neither tokens nor an NFT.
 */
export function findDirection(row: MovingRow, owner: string): MovementDirection | undefined {
  const moved = findMoved(row)
  if (moved === undefined && row.collection === undefined) return undefined
  const { from, to } = getRowParties(row)
  if (moved !== undefined && !/[1-9]/.test(moved.amount)) return 'none'
  if (from === owner) return to === owner ? 'self' : 'out'
  return to === owner ? 'in' : 'none'
}

/** Argument position of the memo. */
const MEMO_AT: ReadonlyMap<string, number> = new Map([
  ['transfer', 4],
  ['transferFreeze', 5],
])

/** The memo of a token movement; `""`: none. */
export function getMemo(name: string, args: readonly unknown[]): string {
  const memo = args[MEMO_AT.get(name) ?? args.length]
  return typeof memo === 'string' ? memo : ''
}

/** End of a transferFreeze's freeze, nanoseconds since 1970; undefined: another action, or an invalid time. */
function parseFreezeEnd(name: string, args: readonly unknown[]): string | undefined {
  if (name !== 'transferFreeze') return undefined
  const time = args[4]
  const digits = time instanceof Exact ? time.text : String(time)
  return isNanoseconds(digits) ? digits : undefined
}

/** A movement of a transaction. */
export type TransactionMovement = TokenMovement | NftMovement

export type TokenMovement = Moved & MovementParties

type NftMovement = MovementParties & {
  readonly collection: string
  /** Id of the NFT; undefined: a contract issued it, and no receipt names it. */
  readonly nft: string | undefined
}

type MovementParties = {
  /** `""`: issued. */
  readonly from: string
  /** `""`: destroyed. */
  readonly to: string
  readonly memo: string
  /** End of the freeze, nanoseconds since 1970; undefined: the tokens are not frozen. */
  readonly until: string | undefined
}

/** The token movements of records, in order. */
export const listTokenMovements = (rows: readonly MovingRow[]): readonly TokenMovement[] =>
  rows.flatMap(row => {
    const moved = findMoved(row)
    if (moved === undefined) return []
    const { action_name, data } = row
    return [
      { ...moved, ...getRowParties(row), memo: getMemo(action_name, data), until: parseFreezeEnd(action_name, data) },
    ]
  })

type NftTransaction = {
  readonly delay: unknown
  readonly actions: readonly { readonly contract: string; readonly action_name: string; readonly data: string }[]
  readonly tx_receipt: {
    readonly status_code?: string | undefined
    readonly returns?: readonly string[] | undefined
    readonly receipts?: readonly { readonly func_name: string; readonly content: string }[] | undefined
  }
}

const CONTRACT = 'token721.iost'
/** Under this id the contract keeps the issuer of a collection, which can be given to another. */
const ISSUER_FIELD = 'T721issuer'

/** The NFTs that a transaction issued or moved, by its own actions and within contracts, in order. */
export function listNftMovements(transaction: NftTransaction): readonly NftMovement[] {
  const { status_code, receipts = [] } = transaction.tx_receipt
  if (status_code !== 'SUCCESS' || Number(transaction.delay) > 0) return []
  const idOf = findIssuedIds(transaction)
  return receipts.flatMap(({ func_name, content }) => {
    const [collection, first, second, id] = readTexts(content)
    if (collection === undefined || first === undefined) return []
    const rest = { collection, memo: '', until: undefined }
    if (func_name === `${CONTRACT}/issue`) return [{ ...rest, from: '', to: first, nft: idOf(content) }]
    if (func_name !== `${CONTRACT}/transfer` || second === undefined || id === ISSUER_FIELD) return []
    return [{ ...rest, from: first, to: second, nft: id }]
  })
}

/** The receipt of an issue lacks the id, which the action returns. undefined: a contract issued the NFT. */
function findIssuedIds({
  actions,
  tx_receipt: { returns = [] },
}: NftTransaction): (content: string) => string | undefined {
  const issued = actions.flatMap(({ contract, action_name, data }, at) =>
    contract === CONTRACT && action_name === 'issue' ? [{ data, id: readTexts(returns[at] ?? '')[0] }] : [],
  )
  return content => {
    const at = issued.findIndex(({ data }) => data === content)
    return at < 0 ? undefined : issued.splice(at, 1)[0]?.id
  }
}

function readTexts(json: string): readonly (string | undefined)[] {
  return (parseChainArguments(json) ?? []).map(value => (typeof value === 'string' ? value : undefined))
}
