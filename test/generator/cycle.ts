import { HUB_INDEX, type Kind, MOST, type Plan } from './cycle-plan.ts'
import { CREATORS, HUB, newcomerName, TOKENS, type Token } from './names.ts'
import { collectionOf, giveNft, issueNft } from './nfts.ts'
import { mix } from './random.ts'
import { blockTime } from './time.ts'
import {
  addAction,
  BROKEN,
  buyRam,
  destroy,
  emptyTx,
  freezeAction,
  issue,
  NO_BALANCE,
  pledge,
  sellRam,
  signUp,
  type Tx,
  transfer,
  transferAction,
  unpledge,
  unvote,
  vote,
} from './transaction.ts'
import type { World } from './world.ts'

/** A place in the cycles, with its transaction. */
type At = {
  readonly world: World
  readonly cycle: number
  /** Number in the cycle (`k`), and number of the transaction of the first half that it is or reverts (`j`). */
  readonly k: number
  readonly j: number
  readonly back: boolean
  readonly tx: Tx
  /** A random number that is the same for a transaction and the one that reverts it. */
  readonly drawn: number
}

const IOST = 100_000_000
const LONG_MEMO = 'a longer memo of several words, as exchanges ask for'
const MEMOS = ['', 'ok', 'thanks', 'payment 42', 'no. 7', '付款', LONG_MEMO]

const amountOf = ({ drawn }: At, most: number): number => 1 + (drawn % most)
const memoOf = ({ drawn }: At): string => MEMOS[(drawn >>> 20) % MEMOS.length] ?? ''
const name = ({ world }: At, index: number): string => world.account(index)

/** The time when an amount frozen here is due: after this block, and before the amount is needed. */
function dueOf({ world, cycle, k, j, back }: At): string {
  const { schedule, settings, dawn } = world
  const from = schedule.offset(k)
  const until = back ? settings.cycle - 1 : schedule.offset(j + schedule.count / 2)
  return blockTime(settings.seed, dawn + cycle * settings.cycle + Math.floor((from + until) / 2))
}

function call(at: At, contract: string, action: string, data: string, returned = '[""]'): void {
  addAction(at.tx, `${contract}/${action}`, data, [at.tx.publisher, contract], returned)
}

/** A transfer from a to b, and back in the second half. */
function move(at: At, plan: Plan, token: Token, most: number): void {
  const [from, to] = at.back ? [plan.b, plan.a] : [plan.a, plan.b]
  at.tx.publisher = name(at, from)
  transferAction(at.tx, token, [name(at, from), name(at, to)], amountOf(at, most), memoOf(at))
}

function play(at: At, plan: Plan): void {
  const contract = at.world.contracts[plan.contract] ?? ''
  const player = name(at, plan.a)
  at.tx.publisher = player
  const units = amountOf(at, MOST.iost)
  call(at, contract, at.back ? 'claim' : 'play', `["${at.drawn % 100}","${memoOf(at)}"]`, `["${at.drawn % 1000}"]`)
  const win = at.drawn % 7 === 0
  at.tx.receipts.push({
    funcName: `${contract}/${at.back ? 'claim' : 'play'}`,
    content: `{"round":${at.drawn % 100_000},"player":"${player}","win":${win}}`,
  })
  transfer(at.tx, TOKENS.iost, at.back ? [contract, player] : [player, contract], units, { memo: 'game' })
}

/** A contract calls another one, which moves tokens in two steps. */
function route(at: At, plan: Plan): void {
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
    { funcName: `${inner}/store`, content: `["${player}","${units}"]` },
    { funcName: `${outer}/route`, content: 'routed' },
  )
}

function multi(at: At, plan: Plan): void {
  const payer = name(at, plan.a)
  const others = [plan.b, plan.c, plan.d].map(index => name(at, index))
  at.tx.publisher = at.back ? (others[0] ?? '') : payer
  if (at.back) at.tx.signers = others.slice(1).map(one => `${one}@active`)
  for (const other of others)
    transferAction(at.tx, TOKENS.iost, at.back ? [other, payer] : [payer, other], amountOf(at, MOST.iost), memoOf(at))
}

function twins(at: At, plan: Plan): void {
  move(at, plan, TOKENS.iost, MOST.iost)
  move(at, plan, TOKENS.iost, MOST.iost)
}

function fail(at: At, plan: Plan, status: number): void {
  const payer = name(at, plan.a)
  at.tx.publisher = payer
  const to = name(at, plan.b)
  const data = `["iost","${payer}","${to}","99999999999","${memoOf(at)}"]`
  const nowhere = at.j % 5 === 0
  const [contract, receiver] = nowhere ? ['nosuch.iost', 'nosuch.iost'] : ['token.iost', to]
  at.tx.actions.push({ contract, actionName: 'transfer', data, from: payer, to: receiver })
  at.tx.status = status
  at.tx.message =
    status === NO_BALANCE
      ? `balance not enough after executing actions: pay ram failed. id: ${payer} need 1712, actual 0`
      : `running action Action{Contract: token.iost, ActionName: transfer, Data: ["iost","${payer}"...\n error: balance not enough`
}

function freezing(at: At, plan: Plan): void {
  const token = plan.coin ? TOKENS.coin : TOKENS.iost
  const most = plan.coin ? MOST.coin : MOST.iost
  if (at.back) {
    move(at, plan, token, most)
    return
  }
  at.tx.publisher = name(at, plan.a)
  freezeAction(at.tx, token, [name(at, plan.a), name(at, plan.b)], amountOf(at, most), dueOf(at))
}

/**
 * The hub issues an NFT. In the second half its owner transfers it to another account, sometimes through a contract.
 */
function collecting(at: At, plan: Plan): void {
  const { world, cycle, j, back, tx } = at
  const collection = collectionOf(plan)
  const id = world.nfts.idOf(collection, cycle, j)
  const [owner, other] = [name(at, plan.a), name(at, plan.b)]
  if (!back) {
    tx.publisher = HUB
    issueNft(tx, collection, owner, id)
    return
  }
  tx.publisher = owner
  // The choice is the same in every cycle, like everything that determines rows.
  const own = j % 2 === 0
  if (!own) call(at, world.contracts[plan.contract] ?? '', 'drop', JSON.stringify([other, id]))
  giveNft(tx, { collection, id }, [owner, other], own)
}

function voting(at: At, plan: Plan): void {
  const voter = name(at, plan.a)
  const producer = at.world.producers[0]?.account ?? ''
  const units = amountOf(at, MOST.votes)
  at.tx.publisher = voter
  const data = at.back ? vote(at.tx, voter, producer, units) : unvote(at.tx, voter, producer, units, dueOf(at))
  const called = `vote_producer.iost/${at.back ? 'vote' : 'unvote'}`
  addAction(at.tx, called, data, at.back ? [voter, producer] : [producer, voter], '[""]')
}

function pledging(at: At, plan: Plan): void {
  const [pledger, other] = [name(at, plan.a), name(at, plan.b)]
  const units = amountOf(at, MOST.iost)
  at.tx.publisher = pledger
  const data = at.back ? unpledge(at.tx, pledger, other, units, dueOf(at)) : pledge(at.tx, pledger, other, units)
  const called = `gas.iost/${at.back ? 'unpledge' : 'pledge'}`
  addAction(at.tx, called, data, at.back ? [other, pledger] : [pledger, other])
}

function ramTrade(at: At, plan: Plan): void {
  const owner = name(at, plan.a)
  const bytes = 1 + (at.drawn % 900)
  const price = bytes * 1_000_000
  at.tx.publisher = owner
  if (at.back) sellRam(at.tx, owner, bytes, price)
  else buyRam(at.tx, [owner, owner], bytes, price, 2_000_000)
  const called = `ram.iost/${at.back ? 'sell' : 'buy'}`
  addAction(at.tx, called, `["${owner}","${owner}",${bytes}]`, [owner, owner], `["${price / IOST}"]`)
}

/** The account uses RAM, and frees it in the second half. */
function storing(at: At, plan: Plan): void {
  const owner = name(at, plan.a)
  const contract = at.world.contracts[plan.contract] ?? ''
  const bytes = (at.back ? -1 : 1) * amountOf(at, MOST.ram)
  at.tx.publisher = owner
  call(at, contract, 'store', `["${bytes}", "${memoOf(at)}"]`)
  at.tx.ram.push([owner, bytes], ['token.iost', 10])
  at.tx.effects.push({ kind: 'ram', owner, bytes })
}

function minting(at: At, plan: Plan): void {
  const to = name(at, plan.b)
  const units = amountOf(at, 1000)
  at.tx.publisher = at.back ? to : HUB
  if (at.back) addAction(at.tx, 'token.iost/destroy', destroy(at.tx, TOKENS.mint, to, units, true), [to, ''])
  else addAction(at.tx, 'token.iost/issue', issue(at.tx, TOKENS.mint, to, units, true), ['', to])
}

/** A new account in every cycle. Half of them get a little IOST, always the same amount. */
function joining(at: At): void {
  const creator = CREATORS[at.j % CREATORS.length] ?? ''
  const fresh = newcomerName(at.cycle, at.k)
  const { keys } = at.world
  at.tx.publisher = creator
  pledge(at.tx, creator, fresh, 10 * IOST)
  const data = signUp(at.tx, fresh, keys[at.j % keys.length] ?? '', true)
  addAction(at.tx, 'auth.iost/signUp', data, [creator, fresh], '[""]')
  if (at.j % 2 === 0) transferAction(at.tx, TOKENS.iost, [creator, fresh], IOST, 'welcome')
}

/** A producer exchanges block rewards for IOST, far less than it has earned by the middle of the first cycle. */
function exchanging(at: At, plan: Plan): void {
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

function telling(at: At, plan: Plan): void {
  at.tx.publisher = name(at, plan.a)
  const text = at.drawn % 2 === 0 ? 'free text, 没有 JSON' : '[1,2'
  call(at, 'system.iost', 'receipt', JSON.stringify([text]), '[]')
  at.tx.receipts.push({ funcName: 'system.iost/receipt', content: text })
}

const FILL: Readonly<Record<Kind, (at: At, plan: Plan) => void>> = {
  iost: (at, plan) => move(at, plan, TOKENS.iost, MOST.iost),
  nft: collecting,
  coin: (at, plan) => move(at, plan, TOKENS.coin, MOST.coin),
  play,
  route,
  multi,
  twins,
  failed: (at, plan) => fail(at, plan, BROKEN),
  poor: (at, plan) => fail(at, plan, NO_BALANCE),
  freeze: freezing,
  unvote: voting,
  pledge: pledging,
  ram: ramTrade,
  store: storing,
  mint: minting,
  signUp: joining,
  exchange: exchanging,
  text: telling,
  // This transaction has no action.
  none: (at, plan) => {
    at.tx.publisher = name(at, plan.a === HUB_INDEX ? 0 : plan.a)
  },
}

/** The k-th transaction of a cycle. */
export function cycleTransaction(world: World, cycle: number, k: number): Tx {
  const { schedule, settings, plan } = world
  const half = schedule.count / 2
  const back = k >= half
  const j = back ? k - half : k
  const tx = emptyTx('', 200_000 + (mix(settings.seed, 5, k, cycle) % 2_000_000))
  const planned = plan.read(j)
  FILL[planned.kind]({ world, cycle, k, j, back, tx, drawn: mix(settings.seed, 6, j, cycle) }, planned)
  return tx
}
