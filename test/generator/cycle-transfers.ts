import { type At, amountOf, call, dueOf, memoOf, name } from './cycle-place.ts'
import { MOST, type Plan } from './cycle-plan.ts'
import { freezeAction, transfer, transferAction } from './movements.ts'
import { TOKENS, type Token } from './names.ts'
import { NO_BALANCE } from './transaction.ts'

/** A transfer from a to b, and back in the second half. */
export function move(at: At, plan: Plan, token: Token, most: number): void {
  const [from, to] = at.back ? [plan.b, plan.a] : [plan.a, plan.b]
  at.tx.publisher = name(at, from)
  transferAction(at.tx, token, [name(at, from), name(at, to)], amountOf(at, most), memoOf(at))
}

export function play(at: At, plan: Plan): void {
  const contract = at.world.contracts[plan.contract] ?? ''
  const player = name(at, plan.a)
  at.tx.publisher = player
  const units = amountOf(at, MOST.iost)
  call(at, contract, at.back ? 'claim' : 'play', `["${at.drawn % 100}","${memoOf(at)}"]`, `["${at.drawn % 1000}"]`)
  const win = at.drawn % 7 === 0
  at.tx.receipts.push({
    name: `${contract}/${at.back ? 'claim' : 'play'}`,
    content: `{"round":${at.drawn % 100_000},"player":"${player}","win":${win}}`,
  })
  transfer(at.tx, TOKENS.iost, at.back ? [contract, player] : [player, contract], units, { memo: 'game' })
}

/** A contract calls another one, which moves tokens in two steps. */
export function route(at: At, plan: Plan): void {
  const outer = at.world.contracts[plan.contract] ?? ''
  const inner = at.world.contracts[plan.other] ?? ''
  const player = name(at, plan.a)
  at.tx.publisher = player
  const units = amountOf(at, MOST.iost)
  call(at, outer, 'route', `["${inner}", "${units}"]`)
  const steps: readonly (readonly [string, string])[] = [
    [player, outer],
    [outer, inner],
  ]
  for (const [from, to] of at.back ? steps.toReversed() : steps)
    transfer(at.tx, TOKENS.iost, at.back ? [to, from] : [from, to], units)
  at.tx.receipts.push(
    { name: `${inner}/store`, content: `["${player}","${units}"]` },
    { name: `${outer}/route`, content: 'routed' },
  )
}

export function multi(at: At, plan: Plan): void {
  const payer = name(at, plan.a)
  const others = [plan.b, plan.c, plan.d].map(index => name(at, index))
  at.tx.publisher = at.back ? (others[0] ?? '') : payer
  if (at.back) at.tx.signers = others.slice(1).map(one => `${one}@active`)
  for (const other of others)
    transferAction(at.tx, TOKENS.iost, at.back ? [other, payer] : [payer, other], amountOf(at, MOST.iost), memoOf(at))
}

export function twins(at: At, plan: Plan): void {
  move(at, plan, TOKENS.iost, MOST.iost)
  move(at, plan, TOKENS.iost, MOST.iost)
}

export function fail(at: At, plan: Plan, status: number): void {
  const payer = name(at, plan.a)
  at.tx.publisher = payer
  const to = name(at, plan.b)
  const data = `["iost","${payer}","${to}","99999999999","${memoOf(at)}"]`
  const nowhere = at.j % 5 === 0
  at.tx.actions.push(
    nowhere
      ? { contract: 'nosuch.iost', name: 'transfer', data, from: payer, to: 'nosuch.iost' }
      : { contract: 'token.iost', name: 'transfer', data, from: payer, to },
  )
  at.tx.status = status
  at.tx.message =
    status === NO_BALANCE
      ? `balance not enough after executing actions: pay ram failed. id: ${payer} need 1712, actual 0`
      : `running action Action{Contract: token.iost, ActionName: transfer, Data: ["iost","${payer}"...\n error: balance not enough`
}

export function freezing(at: At, plan: Plan): void {
  const token = plan.coin ? TOKENS.coin : TOKENS.iost
  const most = plan.coin ? MOST.coin : MOST.iost
  if (at.back) {
    move(at, plan, token, most)
    return
  }
  at.tx.publisher = name(at, plan.a)
  freezeAction(at.tx, token, [name(at, plan.a), name(at, plan.b)], amountOf(at, most), dueOf(at))
}
