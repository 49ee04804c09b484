import { type At, amountOf, call, dueOf, IOST, memoOf, name } from './cycle-place.ts'
import { MOST, type Plan } from './cycle-plan.ts'
import { fail } from './cycle-transfers.ts'
import { CREATORS } from './genesis.ts'
import {
  buyRam,
  destroy,
  issue,
  pledge,
  sellRam,
  signUp,
  transfer,
  transferAction,
  unpledge,
  unvote,
  vote,
} from './movements.ts'
import { HUB, newcomerName, TOKENS } from './names.ts'
import { BROKEN } from './transaction.ts'

export function voting(at: At, plan: Plan): void {
  const voter = name(at, plan.a)
  const producer = at.world.producers[0]?.account ?? ''
  const units = amountOf(at, MOST.votes)
  at.tx.publisher = voter
  const data = at.back ? vote(at.tx, voter, producer, units) : unvote(at.tx, voter, producer, units, dueOf(at))
  const [from, to] = at.back ? [voter, producer] : [producer, voter]
  at.tx.actions.push({ contract: 'vote_producer.iost', name: at.back ? 'vote' : 'unvote', data, from, to })
  at.tx.returns.push('[""]')
}

export function pledging(at: At, plan: Plan): void {
  const [pledger, other] = [name(at, plan.a), name(at, plan.b)]
  const units = amountOf(at, MOST.iost)
  at.tx.publisher = pledger
  const data = at.back ? unpledge(at.tx, pledger, other, units, dueOf(at)) : pledge(at.tx, pledger, other, units)
  const [from, to] = at.back ? [other, pledger] : [pledger, other]
  at.tx.actions.push({ contract: 'gas.iost', name: at.back ? 'unpledge' : 'pledge', data, from, to })
  at.tx.returns.push('[]')
}

export function ramTrade(at: At, plan: Plan): void {
  const owner = name(at, plan.a)
  const bytes = 1 + (at.drawn % 900)
  const price = bytes * 1_000_000
  at.tx.publisher = owner
  if (at.back) sellRam(at.tx, owner, bytes, price)
  else buyRam(at.tx, [owner, owner], bytes, price, 2_000_000)
  at.tx.actions.push({
    contract: 'ram.iost',
    name: at.back ? 'sell' : 'buy',
    data: `["${owner}","${owner}",${bytes}]`,
    from: owner,
    to: owner,
  })
  at.tx.returns.push(`["${price / IOST}"]`)
}

/** The account uses RAM, and frees it in the second half. */
export function storing(at: At, plan: Plan): void {
  const owner = name(at, plan.a)
  const contract = at.world.contracts[plan.contract] ?? ''
  const bytes = (at.back ? -1 : 1) * amountOf(at, MOST.ram)
  at.tx.publisher = owner
  call(at, contract, 'store', `["${bytes}", "${memoOf(at)}"]`)
  at.tx.ram.push([owner, bytes], ['token.iost', 10])
  at.tx.effects.push({ kind: 'ram', owner, bytes })
}

export function minting(at: At, plan: Plan): void {
  const to = name(at, plan.b)
  const units = amountOf(at, 1000)
  at.tx.publisher = at.back ? to : HUB
  const data = at.back ? destroy(at.tx, TOKENS.mint, to, units, true) : issue(at.tx, TOKENS.mint, to, units, true)
  const [from, receiver] = at.back ? [to, ''] : ['', to]
  at.tx.actions.push({
    contract: 'token.iost',
    name: at.back ? 'destroy' : 'issue',
    data,
    from,
    to: receiver,
  })
  at.tx.returns.push('[]')
}

/** A new account in every cycle. Half of them get a little IOST, always the same amount. */
export function joining(at: At): void {
  const creator = CREATORS[at.j % CREATORS.length] ?? ''
  const fresh = newcomerName(at.cycle, at.k)
  const { keys } = at.world
  at.tx.publisher = creator
  pledge(at.tx, creator, fresh, 10 * IOST)
  const data = signUp(at.tx, fresh, keys[at.j % keys.length] ?? '', true)
  at.tx.actions.push({ contract: 'auth.iost', name: 'signUp', data, from: creator, to: fresh })
  at.tx.returns.push('[""]')
  if (at.j % 2 === 0) transferAction(at.tx, TOKENS.iost, [creator, fresh], IOST, 'welcome')
}

/** A producer exchanges block rewards for IOST, far less than it has earned by the middle of the first cycle. */
export function exchanging(at: At, plan: Plan): void {
  if (!at.back) {
    fail(at, plan, BROKEN)
    return
  }
  const producer = at.world.producers[at.j % at.world.producers.length]?.account ?? ''
  at.tx.publisher = producer
  destroy(at.tx, TOKENS.contribute, producer, REWARD)
  transfer(at.tx, TOKENS.iost, ['bonus.iost', producer], REWARD)
  call(at, 'bonus.iost', 'exchangeIOST', `["${producer}","0.01"]`)
}
const REWARD = IOST / 100

export function telling(at: At, plan: Plan): void {
  at.tx.publisher = name(at, plan.a)
  const text = at.drawn % 2 === 0 ? 'free text, 没有 JSON' : '[1,2'
  call(at, 'system.iost', 'receipt', JSON.stringify([text]), '[]')
  at.tx.receipts.push({ name: 'system.iost/receipt', content: text })
}
