import { DEAD, TOKENS, type Token } from './names.ts'
import { amountText, type Tx } from './transaction.ts'

/** Receipts of system contracts, and their effects. `own`: the action has the same arguments and owns the receipt. */

const iost = TOKENS.iost

export function transfer(
  tx: Tx,
  token: Token,
  [from, to]: readonly [string, string],
  units: number | bigint,
  { own = false, memo = '' }: { readonly own?: boolean; readonly memo?: string } = {},
): string {
  const content = `["${token.symbol}","${from}","${to}","${amountText(units, token.decimals)}","${memo}"]`
  tx.receipts.push(
    own ? { name: 'token.iost/transfer', content } : { name: 'token.iost/transfer', content, row: [from, to] },
  )
  tx.effects.push({ kind: 'move', token: token.symbol, from, to, units })
  return content
}

/** A successful action `token.iost/transfer`. */
export function transferAction(
  tx: Tx,
  token: Token,
  [from, to]: readonly [string, string],
  units: number,
  memo: string,
): void {
  const data = transfer(tx, token, [from, to], units, { own: true, memo })
  tx.actions.push({ contract: 'token.iost', name: 'transfer', data, from, to })
  tx.returns.push('[]')
}

function freeze(
  tx: Tx,
  token: Token,
  [from, to]: readonly [string, string],
  units: number,
  { due, own = false }: { readonly due: string; readonly own?: boolean },
): string {
  const content = `["${token.symbol}","${from}","${to}","${amountText(units, token.decimals)}",${due},""]`
  tx.receipts.push(
    own
      ? { name: 'token.iost/transferFreeze', content }
      : { name: 'token.iost/transferFreeze', content, row: [from, to] },
  )
  tx.effects.push({ kind: 'freeze', token: token.symbol, from, to, units, due })
  return content
}

export function freezeAction(
  tx: Tx,
  token: Token,
  [from, to]: readonly [string, string],
  units: number,
  due: string,
): void {
  const data = freeze(tx, token, [from, to], units, { due, own: true })
  tx.actions.push({ contract: 'token.iost', name: 'transferFreeze', data, from, to })
  tx.returns.push('[]')
}

export function issue(tx: Tx, token: Token, to: string, units: number | bigint, own = false): string {
  const content = `["${token.symbol}","${to}","${amountText(units, token.decimals)}"]`
  tx.receipts.push(own ? { name: 'token.iost/issue', content } : { name: 'token.iost/issue', content, row: ['', to] })
  tx.effects.push({ kind: 'move', token: token.symbol, from: '', to, units })
  return content
}

export function destroy(tx: Tx, token: Token, from: string, units: number, own = false): string {
  const content = `["${token.symbol}","${from}","${amountText(units, token.decimals)}"]`
  tx.receipts.push(
    own ? { name: 'token.iost/destroy', content } : { name: 'token.iost/destroy', content, row: [from, ''] },
  )
  tx.effects.push({ kind: 'move', token: token.symbol, from, to: '', units })
  return content
}

/** `own`: the action is a signUp of the same name. */
export function signUp(tx: Tx, name: string, key: string, own = false): string {
  const content = `["${name}","${key}","${key}"]`
  tx.receipts.push(
    own ? { name: 'auth.iost/signUp', content } : { name: 'auth.iost/signUp', content, row: [tx.publisher, name] },
  )
  tx.effects.push({ kind: 'signUp', name, creator: tx.publisher })
  return content
}

/** The receipts of a vote inside an action of the same name or of a contract. */
export function vote(tx: Tx, voter: string, producer: string, units: number): string {
  transfer(tx, iost, [voter, 'vote.iost'], units)
  const content = `["${voter}","${producer}","${amountText(units, 8)}"]`
  tx.receipts.push({ name: 'vote_producer.iost/vote', content })
  tx.effects.push({ kind: 'vote', voter, producer, units })
  return content
}

export function unvote(tx: Tx, voter: string, producer: string, units: number, due: string): string {
  freeze(tx, iost, ['vote.iost', voter], units, { due })
  const content = `["${voter}","${producer}","${amountText(units, 8)}"]`
  tx.receipts.push({ name: 'vote_producer.iost/unvote', content })
  tx.effects.push({ kind: 'vote', voter, producer, units: -units })
  return content
}

export function pledge(tx: Tx, pledger: string, to: string, units: number): string {
  transfer(tx, iost, [pledger, 'gas.iost'], units)
  const content = `["${pledger}","${to}","${amountText(units, 8)}"]`
  tx.receipts.push({ name: 'gas.iost/pledge', content })
  return content
}

export function unpledge(tx: Tx, pledger: string, from: string, units: number, due: string): string {
  freeze(tx, iost, ['gas.iost', pledger], units, { due })
  const content = `["${pledger}","${from}","${amountText(units, 8)}"]`
  tx.receipts.push({ name: 'gas.iost/unpledge', content })
  return content
}

/** The receipts of a purchase at ram.iost, which are transfers. */
export function buyRam(
  tx: Tx,
  [payer, to]: readonly [string, string],
  bytes: number,
  price: number,
  fee: number,
): void {
  transfer(tx, iost, [payer, 'ram.iost'], price)
  transfer(tx, iost, ['ram.iost', DEAD], fee)
  transfer(tx, TOKENS.ram, ['ram.iost', to], bytes)
}

export function sellRam(tx: Tx, owner: string, bytes: number, price: number): void {
  transfer(tx, TOKENS.ram, [owner, 'ram.iost'], bytes)
  transfer(tx, iost, ['ram.iost', owner], price)
}
