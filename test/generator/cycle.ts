import { HUB_INDEX, type Kind, MOST } from './cycle-plan.ts'
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
  type Parties,
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

const IOST = 100_000_000
const LONG_MEMO = 'a longer memo of several words, as exchanges ask for'
const MEMOS = ['', 'ok', 'thanks', 'payment 42', 'no. 7', '付款', LONG_MEMO]

/** A place in the cycles, with its transaction, which is `a`'s unless it has another publisher. */
function placeAt(world: World, cycle: number, k: number) {
  const { schedule, settings } = world
  const half = schedule.count / 2
  const back = k >= half
  /** Number of the transaction of the first half that it is or reverts. */
  const j = back ? k - half : k
  const plan = world.plan.read(j)
  /** A random number that is the same for a transaction and the one that reverts it. */
  const drawn = mix(settings.seed, 6, j, cycle)
  const a = world.account(plan.a)
  return {
    ...{ world, cycle, k, j, back, drawn, a, plan },
    b: world.account(plan.b),
    contract: world.contracts[plan.contract] ?? '',
    tx: emptyTx(a, 200_000 + (mix(settings.seed, 5, k, cycle) % 2_000_000)),
    memo: MEMOS[(drawn >>> 20) % MEMOS.length] ?? '',
    amount: (most: number): number => 1 + (drawn % most),
  }
}
type At = ReturnType<typeof placeAt>

/** The time when an amount frozen here is due: after this block, and before the amount is needed. */
function dueOf({ world, cycle, k, j, back }: At): string {
  const { schedule, settings, dawn } = world
  const from = schedule.offset(k)
  const until = back ? settings.cycle - 1 : schedule.offset(j + schedule.count / 2)
  return blockTime(settings.seed, dawn + cycle * settings.cycle + Math.floor((from + until) / 2))
}

/** The parties of a movement from `from`, and back in the second half. */
const turned = ({ back }: At, from: string, to: string): Parties => (back ? [to, from] : [from, to])

function call({ tx }: At, contract: string, action: string, data: string, returned = '[""]'): void {
  addAction(tx, `${contract}/${action}`, data, [tx.publisher, contract], returned)
}

function move(at: At, token: Token, most: number): void {
  const parties = turned(at, at.a, at.b)
  at.tx.publisher = parties[0]
  transferAction(at.tx, token, parties, at.amount(most), at.memo)
}

function play(at: At): void {
  const { tx, a: player, contract, drawn } = at
  const action = at.back ? 'claim' : 'play'
  call(at, contract, action, `["${drawn % 100}","${at.memo}"]`, `["${drawn % 1000}"]`)
  const content = `{"round":${drawn % 100_000},"player":"${player}","win":${drawn % 7 === 0}}`
  tx.receipts.push({ funcName: `${contract}/${action}`, content })
  transfer(tx, TOKENS.iost, turned(at, player, contract), at.amount(MOST.iost), { memo: 'game' })
}

/** A contract calls another one, which moves tokens in two steps. */
function route(at: At): void {
  const { tx, a: player, contract: outer, world, plan, back } = at
  const inner = world.contracts[plan.other] ?? ''
  const units = at.amount(MOST.iost)
  call(at, outer, 'route', `["${inner}", "${units}"]`)
  const steps = [turned(at, player, outer), turned(at, outer, inner)]
  for (const step of back ? steps.toReversed() : steps) transfer(tx, TOKENS.iost, step, units)
  tx.receipts.push(
    { funcName: `${inner}/store`, content: `["${player}","${units}"]` },
    { funcName: `${outer}/route`, content: 'routed' },
  )
}

function multi(at: At): void {
  const { tx, world, plan, b } = at
  const others = [b, world.account(plan.c), world.account(plan.d)]
  if (at.back) Object.assign(tx, { publisher: b, signers: others.slice(1).map(one => `${one}@active`) })
  for (const other of others) transferAction(tx, TOKENS.iost, turned(at, at.a, other), at.amount(MOST.iost), at.memo)
}

function fail({ tx, a: payer, b, j, memo }: At, status: number): void {
  const data = `["iost","${payer}","${b}","99999999999","${memo}"]`
  const nowhere = j % 5 === 0
  const [contract, to] = nowhere ? ['nosuch.iost', 'nosuch.iost'] : ['token.iost', b]
  tx.actions.push({ contract, actionName: 'transfer', data, from: payer, to })
  tx.status = status
  tx.message =
    status === NO_BALANCE
      ? `balance not enough after executing actions: pay ram failed. id: ${payer} need 1712, actual 0`
      : `running action Action{Contract: token.iost, ActionName: transfer, Data: ["iost","${payer}"...\n error: balance not enough`
}

function freezing(at: At): void {
  const [token, most] = at.plan.coin ? [TOKENS.coin, MOST.coin] : [TOKENS.iost, MOST.iost]
  if (at.back) move(at, token, most)
  else freezeAction(at.tx, token, [at.a, at.b], at.amount(most), dueOf(at))
}

/** The hub issues an NFT. In the second half its owner transfers it to another account, sometimes through a contract. */
function collecting(at: At): void {
  const { world, j, tx, a: owner, b: other } = at
  const collection = collectionOf(at.plan)
  const id = world.nfts.idOf(collection, at.cycle, j)
  if (!at.back) {
    tx.publisher = HUB
    issueNft(tx, collection, owner, id)
    return
  }
  // The choice is the same in every cycle, like everything that determines rows.
  const own = j % 2 === 0
  if (!own) call(at, at.contract, 'drop', JSON.stringify([other, id]))
  giveNft(tx, { collection, id }, [owner, other], own)
}

function voting(at: At): void {
  const { tx, a: voter, back, world } = at
  const producer = world.producers[0]?.account ?? ''
  const units = at.amount(MOST.votes)
  const data = back ? vote(tx, voter, producer, units) : unvote(tx, voter, producer, units, dueOf(at))
  addAction(tx, `vote_producer.iost/${back ? 'vote' : 'unvote'}`, data, turned(at, producer, voter), '[""]')
}

function pledging(at: At): void {
  const { tx, a: pledger, b: other, back } = at
  const units = at.amount(MOST.iost)
  const data = back ? unpledge(tx, pledger, other, units, dueOf(at)) : pledge(tx, pledger, other, units)
  addAction(tx, `gas.iost/${back ? 'unpledge' : 'pledge'}`, data, turned(at, pledger, other))
}

function ramTrade({ tx, a: owner, drawn, back }: At): void {
  const bytes = 1 + (drawn % 900)
  const price = bytes * 1_000_000
  if (back) sellRam(tx, owner, bytes, price)
  else buyRam(tx, [owner, owner], bytes, price, 2_000_000)
  const called = `ram.iost/${back ? 'sell' : 'buy'}`
  addAction(tx, called, `["${owner}","${owner}",${bytes}]`, [owner, owner], `["${price / IOST}"]`)
}

/** The account uses RAM, and frees it in the second half. */
function storing(at: At): void {
  const bytes = (at.back ? -1 : 1) * at.amount(MOST.ram)
  call(at, at.contract, 'store', `["${bytes}", "${at.memo}"]`)
  at.tx.ram.push([at.a, bytes], ['token.iost', 10])
  at.tx.effects.push({ kind: 'ram', owner: at.a, bytes })
}

function minting(at: At): void {
  const { tx, b: to, back } = at
  const units = at.amount(1000)
  tx.publisher = back ? to : HUB
  if (back) addAction(tx, 'token.iost/destroy', destroy(tx, TOKENS.mint, to, units, true), [to, ''])
  else addAction(tx, 'token.iost/issue', issue(tx, TOKENS.mint, to, units, true), ['', to])
}

/** A new account in every cycle. Half of them get a little IOST, always the same amount. */
function joining({ tx, j, cycle, k, world }: At): void {
  const creator = CREATORS[j % CREATORS.length] ?? ''
  const fresh = newcomerName(cycle, k)
  tx.publisher = creator
  pledge(tx, creator, fresh, 10 * IOST)
  const data = signUp(tx, fresh, world.keys[j % world.keys.length] ?? '', true)
  addAction(tx, 'auth.iost/signUp', data, [creator, fresh], '[""]')
  if (j % 2 === 0) transferAction(tx, TOKENS.iost, [creator, fresh], IOST, 'welcome')
}

/** A producer exchanges block rewards for IOST, far less than it has earned by the middle of the first cycle. */
function exchanging(at: At): void {
  const { tx, j, world } = at
  if (!at.back) return void fail(at, BROKEN)
  const producer = world.producers[j % world.producers.length]?.account ?? ''
  tx.publisher = producer
  destroy(tx, TOKENS.contribute, producer, REWARD)
  transfer(tx, TOKENS.iost, ['bonus.iost', producer], REWARD)
  call(at, 'bonus.iost', 'exchangeIOST', `["${producer}","0.01"]`)
}
const REWARD = IOST / 100

function telling(at: At): void {
  const text = at.drawn % 2 === 0 ? 'free text, 没有 JSON' : '[1,2'
  call(at, 'system.iost', 'receipt', JSON.stringify([text]), '[]')
  at.tx.receipts.push({ funcName: 'system.iost/receipt', content: text })
}

const FILL: Readonly<Record<Kind, (at: At) => void>> = {
  iost: at => move(at, TOKENS.iost, MOST.iost),
  nft: collecting,
  coin: at => move(at, TOKENS.coin, MOST.coin),
  play,
  route,
  multi,
  twins: at => {
    move(at, TOKENS.iost, MOST.iost)
    move(at, TOKENS.iost, MOST.iost)
  },
  failed: at => fail(at, BROKEN),
  poor: at => fail(at, NO_BALANCE),
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
  none: ({ tx, plan, world }) => {
    if (plan.a === HUB_INDEX) tx.publisher = world.account(0)
  },
}

/** The k-th transaction of a cycle. */
export function cycleTransaction(world: World, cycle: number, k: number): Tx {
  const at = placeAt(world, cycle, k)
  FILL[at.plan.kind](at)
  return at.tx
}
