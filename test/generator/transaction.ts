import { formatUnits } from '#chain/amount.ts'
import type { Action, Receipt } from '#chain/block.ts'
import { DEAD, TOKENS, type Token } from './names.ts'
import { signedTimes } from './time.ts'

/** Id of the generated chain. */
export const CHAIN = 1024

/** Gas ratio, limit of ordinary transactions and limit of base ones, × 100 as in hash inputs. */
export const GAS_RATIO = 100n
const GAS_LIMIT = 400_000_000n
const BASE_GAS_LIMIT = 100_000_000n

/**
 * A transaction is described twice: in the node's form (actions, receipts) and, for the truth, as effects and
 * parties. Code that reads the node's form must arrive at the same effects.
 */
type RowAction = Action & { readonly from: string; readonly to: string }
/** `row`: the parties of the row of this receipt; absent: it has no row (no movement, or an action's own receipt). */
type RowReceipt = Receipt & { readonly row?: readonly [from: string, to: string] }

type Movement = { readonly token: string; readonly from: string; readonly to: string }

/** Amounts in the token's smallest unit; times in nanoseconds since 1970. */
export type Effect =
  | { readonly kind: 'create'; readonly token: string }
  | (Movement & { readonly kind: 'move'; readonly units: bigint | number })
  | (Movement & { readonly kind: 'freeze'; readonly units: number; readonly due: string })
  | { readonly kind: 'vote'; readonly voter: string; readonly producer: string; readonly units: number }
  | { readonly kind: 'ram'; readonly owner: string; readonly bytes: number }
  | { readonly kind: 'signUp'; readonly name: string }
  | { readonly kind: 'deploy'; readonly contract: string }

/** Numbers of statuses on the chain. */
export const OK = 0
export const NO_BALANCE = 2
export const BROKEN = 4

export type Tx = {
  publisher: string
  /** Nanoseconds until the execution. If above 0, the transaction has no effects of its own. */
  readonly delay: number
  /** Hash of the delayed transaction that this one executes, otherwise empty. */
  readonly referred: string
  /** Time of a block's base transaction; other transactions have none of their own. */
  readonly baseTime?: string
  signers: readonly string[]
  /** Gas paid × 100. */
  gas: number
  status: number
  message: string
  readonly actions: RowAction[]
  readonly returns: string[]
  readonly receipts: RowReceipt[]
  readonly ram: (readonly [payer: string, bytes: number])[]
  readonly effects: Effect[]
}

export const emptyTx = (
  publisher: string,
  gas: number,
  { delay = 0, referred = '', ...more }: Partial<Pick<Tx, 'delay' | 'referred' | 'baseTime'>> = {},
): Tx => ({
  publisher,
  delay,
  referred,
  ...more,
  ...{ gas, status: OK, message: '' },
  ...{ signers: [], actions: [], returns: [], receipts: [], ram: [], effects: [] },
})

/** The terms of a transaction: a base transaction has its block's time, less gas and no limit of amounts. */
export function termsOf({ baseTime }: Tx, height: number) {
  if (baseTime !== undefined) return { time: baseTime, expiration: '0', gasLimit: BASE_GAS_LIMIT, isLimited: false }
  const [time, expiration] = signedTimes(height)
  return { time, expiration, gasLimit: GAS_LIMIT, isLimited: true }
}

/** An amount in smallest units as the chain writes it, without trailing zeros. */
export const amountText = (units: number | bigint, decimals: number): string => formatUnits(BigInt(units), decimals)

export type Parties = readonly [from: string, to: string]

/** Adds a successful action `contract/name`. */
export function addAction(tx: Tx, called: string, data: string, [from, to]: Parties, returned = '[]'): void {
  const [contract = '', actionName = ''] = called.split('/')
  tx.actions.push({ contract, actionName, data, from, to })
  tx.returns.push(returned)
}

/** `own`: the action has the same arguments and owns the receipt. */
type Owned = { readonly own?: boolean }

/** A receipt of token.iost or auth.iost, and its effect. Returns the arguments. */
function say(
  tx: Tx,
  funcName: string,
  content: string,
  effect: Effect,
  { own, row }: Owned & { row: Parties },
): string {
  tx.effects.push(effect)
  tx.receipts.push(own ? { funcName, content } : { funcName, content, row })
  return content
}

const iost = TOKENS.iost

export function transfer(
  tx: Tx,
  { symbol: token, decimals }: Token,
  [from, to]: Parties,
  units: number | bigint,
  { own = false, memo = '' }: Owned & { readonly memo?: string } = {},
): string {
  const content = `["${token}","${from}","${to}","${amountText(units, decimals)}","${memo}"]`
  return say(tx, 'token.iost/transfer', content, { kind: 'move', token, from, to, units }, { own, row: [from, to] })
}

/** A successful action `token.iost/transfer`. */
export function transferAction(tx: Tx, token: Token, parties: Parties, units: number, memo: string): void {
  addAction(tx, 'token.iost/transfer', transfer(tx, token, parties, units, { own: true, memo }), parties)
}

function freeze(
  tx: Tx,
  { symbol: token, decimals }: Token,
  [from, to]: Parties,
  units: number,
  { due, own = false }: Owned & { readonly due: string },
): string {
  const content = `["${token}","${from}","${to}","${amountText(units, decimals)}",${due},""]`
  const effect = { kind: 'freeze', token, from, to, units, due } as const
  return say(tx, 'token.iost/transferFreeze', content, effect, { own, row: [from, to] })
}

export function freezeAction(tx: Tx, token: Token, parties: Parties, units: number, due: string): void {
  addAction(tx, 'token.iost/transferFreeze', freeze(tx, token, parties, units, { due, own: true }), parties)
}

export function issue(tx: Tx, { symbol: token, decimals }: Token, to: string, units: number | bigint, own = false) {
  const content = `["${token}","${to}","${amountText(units, decimals)}"]`
  return say(tx, 'token.iost/issue', content, { kind: 'move', token, from: '', to, units }, { own, row: ['', to] })
}

export function destroy(tx: Tx, { symbol: token, decimals }: Token, from: string, units: number, own = false) {
  const content = `["${token}","${from}","${amountText(units, decimals)}"]`
  return say(tx, 'token.iost/destroy', content, { kind: 'move', token, from, to: '', units }, { own, row: [from, ''] })
}

/** `own`: the action is a signUp of the same name. */
export function signUp(tx: Tx, name: string, key: string, own = false): string {
  const row = [tx.publisher, name] as const
  return say(tx, 'auth.iost/signUp', `["${name}","${key}","${key}"]`, { kind: 'signUp', name }, { own, row })
}

/** The receipt of a contract that moves IOST, which has no row. Returns the arguments. */
function tell(tx: Tx, funcName: string, from: string, to: string, units: number): string {
  const content = `["${from}","${to}","${amountText(units, iost.decimals)}"]`
  tx.receipts.push({ funcName, content })
  return content
}

/** The receipts of a vote inside an action of the same name or of a contract. */
export function vote(tx: Tx, voter: string, producer: string, units: number): string {
  transfer(tx, iost, [voter, 'vote.iost'], units)
  tx.effects.push({ kind: 'vote', voter, producer, units })
  return tell(tx, 'vote_producer.iost/vote', voter, producer, units)
}

export function unvote(tx: Tx, voter: string, producer: string, units: number, due: string): string {
  freeze(tx, iost, ['vote.iost', voter], units, { due })
  tx.effects.push({ kind: 'vote', voter, producer, units: -units })
  return tell(tx, 'vote_producer.iost/unvote', voter, producer, units)
}

export function pledge(tx: Tx, pledger: string, to: string, units: number): string {
  transfer(tx, iost, [pledger, 'gas.iost'], units)
  return tell(tx, 'gas.iost/pledge', pledger, to, units)
}

export function unpledge(tx: Tx, pledger: string, from: string, units: number, due: string): string {
  freeze(tx, iost, ['gas.iost', pledger], units, { due })
  return tell(tx, 'gas.iost/unpledge', pledger, from, units)
}

/** The receipts of a purchase at ram.iost, which are transfers. */
export function buyRam(tx: Tx, [payer, to]: Parties, bytes: number, price: number, fee: number): void {
  transfer(tx, iost, [payer, 'ram.iost'], price)
  transfer(tx, iost, ['ram.iost', DEAD], fee)
  transfer(tx, TOKENS.ram, ['ram.iost', to], bytes)
}

export function sellRam(tx: Tx, owner: string, bytes: number, price: number): void {
  transfer(tx, TOKENS.ram, [owner, 'ram.iost'], bytes)
  transfer(tx, iost, ['ram.iost', owner], price)
}
