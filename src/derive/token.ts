import { parseUnitsLeniently } from '#chain/amount.ts'
import { AMOUNT_AT } from '#chain/effects.ts'
import { Exact, type ExactJson, tryParseExact } from '#chain/json.ts'
import { seriesOf } from '#indices/series.ts'
import {
  findDigits,
  findText,
  malformed,
  type ParsedReceipt,
  parseActionArguments,
  requireTextArgument,
} from './receipt.ts'
import type { TxScope } from './scope.ts'

/** A movement of token.iost, in the token's smallest unit; `""`: no sender or receiver (issue, destroy). */
export type Movement = {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly decimals: number
}

/** Applies a receipt of token.iost. Returns its movement; undefined if nothing moved. */
export function applyToken(at: TxScope, parsed: ParsedReceipt): Movement | undefined {
  const { ledger } = at.scope
  switch (parsed.name) {
    case 'create':
      create(at, parsed.args)
      return undefined
    case 'recycle':
      ledger.token(requireTextArgument(at, parsed, 0)).issuer = ''
      return undefined
    case 'transfer':
    case 'transferFreeze':
    case 'issue':
    case 'destroy':
      return move(at, parsed)
    default:
      return undefined
  }
}

function move(at: TxScope, parsed: ParsedReceipt): Movement {
  const { ledger, series: past } = at.scope
  const symbol = requireTextArgument(at, parsed, 0)
  const token = ledger.token(symbol)
  const place = AMOUNT_AT.get(parsed.name) ?? 3
  const amount = parseUnitsLeniently(requireTextArgument(at, parsed, place), token.decimal)
  if (amount === undefined) throw malformed(at, parsed, place)
  const movement = { token: symbol, ...requireParties(at, parsed), amount, decimals: token.decimal }
  const { from, to } = movement
  const by = { movement }
  if (parsed.name === 'issue' || parsed.name === 'destroy') {
    const change = parsed.name === 'issue' ? amount : -amount
    token.current_supply += change
    past.note(past.open(seriesOf.supply(symbol)), change, by)
    ledger.add(symbol, from === '' ? to : from, { change, by })
  } else if (parsed.name === 'transferFreeze') {
    const isOwn = from === to
    if (!isOwn) ledger.add(symbol, from, { change: -amount, by })
    ledger.freeze(symbol, to, { amount, movement, until: requireTimeArgument(at, parsed, 4), isOwn })
  } else if (from !== to) {
    ledger.add(symbol, from, { change: -amount, by })
    ledger.add(symbol, to, { change: amount, by })
  }
  return movement
}

/** Sender and receiver of a movement; `""`: none. */
function requireParties(at: TxScope, parsed: ParsedReceipt): Pick<Movement, 'from' | 'to'> {
  const first = requireTextArgument(at, parsed, 1)
  if (parsed.name === 'issue') return { from: '', to: first }
  return { from: first, to: parsed.name === 'destroy' ? '' : requireTextArgument(at, parsed, 2) }
}

/**
 * A symbol is free again after `recycle`, which deletes the issuer alone: the contract sets supply and settings anew,
 * and leaves all balances as they are (token.iost 1.0.5 and 1.0.6).
 */
function create({ scope, tx }: TxScope, args: readonly ExactJson[]): void {
  const symbol = findText(args, 0) ?? ''
  const config = parseConfig(findText(args, 3))
  // Without decimals a token has eight (go-iost `vm/native/token_v1.go` create).
  const decimal = truncateNumber(config.decimal) ?? 8
  const former = scope.ledger.createToken({
    id: symbol,
    symbol,
    // Go replaces lone surrogates when it reads the configuration.
    full_name: typeof config.fullName === 'string' ? config.fullName.toWellFormed() : symbol,
    issuer: findText(args, 1) ?? '',
    decimal,
    total_supply: toWholeUnits(findDigits(args, 2), decimal),
    current_supply: 0n,
    can_transfer: config.canTransfer !== false,
    only_issuer_can_transfer: config.onlyIssuerCanTransfer === true,
    holder_count: 0,
    height: scope.block.height,
    time: scope.block.time,
    tx_hash: tx.hash,
  })
  if (former === undefined) scope.statistics.token_count += 1
  else if (former.current_supply !== 0n)
    scope.series.note(scope.series.open(seriesOf.supply(symbol)), -former.current_supply, { kind: 'tx' })
}

type Config = Partial<Record<'decimal' | 'fullName' | 'canTransfer' | 'onlyIssuerCanTransfer', ExactJson>>

/** The receipt has the configuration as base64 of JSON. Other keys (genesis: `can_transfer`) have no effect. */
function parseConfig(text: string | undefined): Config {
  const value = tryParseExact(Buffer.from(text ?? '', 'base64').toString('utf8'))
  return typeof value === 'object' && value !== null ? (value as Config) : {}
}

/** Truncates the number to an integer, like the node: −0.5 to 0, which is no −0 there. */
function truncateNumber(value: ExactJson | undefined): number | undefined {
  if (value instanceof Exact) return Math.trunc(Number(value.text)) + 0
  return typeof value === 'number' ? Math.trunc(value) + 0 : undefined
}

/** Multiplies like Go's int64: the node refuses supplies that are too large; those far below zero wrap. */
const toWholeUnits = (digits: string | undefined, decimals: number): bigint =>
  digits !== undefined && /^-?\d+$/.test(digits) ? BigInt.asIntN(64, BigInt(digits) * 10n ** BigInt(decimals)) : 0n

/** Applies `updateTotalSupply [symbol, whole tokens]`, which emits no receipt (token.iost 1.0.4). */
export function updateTotalSupply({ scope, tx }: TxScope, at: number): void {
  const args = parseActionArguments(tx.actions[at]) ?? []
  const symbol = findText(args, 0)
  const digits = findDigits(args, 1)
  if (symbol === undefined || digits === undefined) return
  const token = scope.ledger.token(symbol)
  token.total_supply = toWholeUnits(digits, token.decimal)
}

function requireTimeArgument(at: TxScope, parsed: ParsedReceipt, place: number): bigint {
  const digits = findDigits(parsed.args, place)
  if (digits === undefined || !/^-?\d+$/.test(digits)) throw malformed(at, parsed, place)
  return BigInt(digits)
}
