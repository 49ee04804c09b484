import { IOST_DECIMALS, parseUnitsLeniently } from '#chain/amount.ts'
import { applies } from '#chain/effects.ts'
import { computeGas, GAS_LIMIT_PER_UNIT, GAS_REWARD_PER_UNIT, toStoredGas } from '#chain/gas.ts'
import { isContractId, isSystemContract, parseDeployHash } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import { contracts } from '#indices/contract.ts'
import { type PledgeDoc, pledgeId, pledges } from '#indices/pledge.ts'
import { NO_RESOURCES, type ResourceDoc, resources } from '#indices/resource.ts'
import { seriesOf } from '#indices/series.ts'
import { findDigits, findText, type ParsedReceipt, parseActionArguments } from './receipt.ts'
import type { Scope, TxScope } from './scope.ts'
import type { State } from './state.ts'
import type { Movement } from './token.ts'

/** Applies `gas.iost/pledge [pledger, to, amount]` and `unpledge [pledger, from, amount]`. */
export function applyGas(at: TxScope, parsed: ParsedReceipt): void {
  if (parsed.name !== 'pledge' && parsed.name !== 'unpledge') return
  const pledger = findText(parsed.args, 0)
  const beneficiary = findText(parsed.args, 1)
  const amount = parseUnitsLeniently(findText(parsed.args, 2) ?? '', IOST_DECIMALS)
  if (pledger === undefined || beneficiary === undefined || amount === undefined) return
  const signed = parsed.name === 'pledge' ? amount : -amount
  changeGas(at, beneficiary, signed)
  changePledge(at, { pledger, beneficiary }, signed)
}

function changeGas({ scope }: TxScope, owner: string, pledged: bigint): void {
  const { state, block } = scope
  const before = getResource(state, owner)
  const pledge = before.gas_pledge + pledged
  const limit = pledge * GAS_LIMIT_PER_UNIT
  const reward = pledged > 0n ? pledged * GAS_REWARD_PER_UNIT : 0n
  // The very first pledge takes the reward as it is; the limit does not apply (`gu` = 0).
  const grown = toStoredGas(computeGas(before, block.time)) + reward
  const stock = before.gas_updated === 0n ? reward : grown < limit ? grown : limit
  changeResource(state, owner, { gas_pledge: pledge, gas_limit: limit, gas_stock: stock, gas_updated: block.time })
}

/** Changes a pledge. Pairs are in the order of their first pledge; one that fell to zero returns as the last. */
function changePledge(
  { scope }: TxScope,
  { pledger, beneficiary }: Pick<PledgeDoc, 'pledger' | 'beneficiary'>,
  pledged: bigint,
): void {
  const { series: past } = scope
  const key = pledger === beneficiary ? seriesOf.pledgedForItself(pledger) : seriesOf.pledgedForOthers(pledger)
  past.note(past.open(key), pledged, { kind: 'tx' })
  const id = pledgeId(pledger, beneficiary)
  const before: PledgeDoc | undefined = scope.state.get(pledges, id)
  const fresh = before === undefined || before.amount === 0n
  if (fresh) scope.statistics.pledge_seq += 1
  scope.state.put(pledges, {
    id,
    pledger,
    beneficiary,
    amount: (before?.amount ?? 0n) + pledged,
    seq: fresh ? scope.statistics.pledge_seq : before.seq,
  })
}

/**
 * Charges the gas of a transaction, even a failed one, to its publisher: the stock is brought up to the
 * block's time, then reduced. It never falls below zero: blocks do not show the part that was paid with the
 * transferable gas of the first weeks.
 */
export function payGas({ scope, tx }: TxScope): void {
  const { state, block } = scope
  const used = tx.receipt.gasUsage
  if (used === 0n) return
  const stock = computeGas(getResource(state, tx.publisher), block.time) - used
  changeResource(state, tx.publisher, { gas_stock: stock > 0n ? toStoredGas(stock) : 0n, gas_updated: block.time })
}

/** Gas and RAM of an owner; all zero for an owner that never had any. */
const getResource = (state: State, owner: string): ResourceDoc =>
  state.get(resources, owner) ?? { id: owner, ...NO_RESOURCES }

function changeResource(state: State, owner: string, change: Partial<ResourceDoc>): void {
  state.put(resources, { ...getResource(state, owner), ...change })
}

const MARKET = 'ram.iost'
const FEE_TAKER = 'deadaddr'
const RAM = 'ram'

function changeMarket(scope: Scope, work: (market: { left: number; used: number; balance: number }) => void): void {
  const { left, used, balance } = scope.statistics.ram
  const market = { left: Number(left), used: Number(used), balance: Number(balance) }
  work(market)
  scope.statistics.ram = { left: String(market.left), used: String(market.used), balance: String(market.balance) }
}

/**
 * Applies genesis action `ram.iost/issue [total, interval, amount, reserve]`, which opens the market. Uses
 * IEEE doubles in the contract's order of operations.
 */
export function openMarket({ scope, tx }: TxScope, at: number): void {
  const args = parseActionArguments(tx.actions[at]) ?? []
  const total = Number(findDigits(args, 0))
  const reserve = Number(findDigits(args, 3) ?? '0')
  if (!Number.isFinite(total)) return
  changeMarket(scope, market => {
    market.left = total
    market.used = 0
    // IOST per byte in an untouched market (go-iost `config/genesis/contract/ram.js` _getInitialPrice).
    market.balance = total * 0.005
    if (reserve === 0) return
    const price = market.balance * (market.left / (market.left - reserve) - 1)
    market.left -= reserve
    market.balance += price
    market.used += reserve
  })
}

/**
 * Finds the trades with ram.iost, which has no receipts of its own, in the movements of one transaction. The returned
 * function is called with each. A buy: IOST payer → ram.iost, its fee ram.iost → deadaddr, then ram ram.iost → account.
 * A sell: ram account → ram.iost, then IOST ram.iost → receiver. Other ram between owners is lent. Genesis moves ram out
 * of ram.iost without a price, which is no trade.
 */
export function ramTrades({ scope }: TxScope): (name: string, movement: Movement) => void {
  let paid: { price: bigint; fee: bigint } | undefined
  let sold: bigint | undefined
  const iost = ({ from, to, amount }: Movement): void => {
    // The receiver of a sale's price may be any name, even the market's own.
    if (from === MARKET && sold !== undefined) {
      const bytes = Number(sold)
      sold = undefined
      changeMarket(scope, market => {
        market.left += bytes
        market.balance -= toHundredths(amount)
        market.used -= bytes
      })
    } else if (to === MARKET) {
      paid = { price: amount, fee: 0n }
      sold = undefined
    } else if (from === MARKET && to === FEE_TAKER && paid !== undefined) paid.fee = amount
  }
  const ram = ({ from, to, amount }: Movement): void => {
    if (from !== MARKET) {
      addTotal(scope, from, -amount)
      if (to === MARKET) sold = amount
      else addTotal(scope, to, amount)
      return
    }
    if (paid === undefined) return
    const { price, fee } = paid
    paid = undefined
    addTotal(scope, to, amount)
    scope.day.ramFees += fee
    changeMarket(scope, market => {
      market.left -= Number(amount)
      market.balance += toHundredths(price - fee)
      market.used += Number(amount)
    })
  }
  return (name, movement) => {
    if (movement.token === 'iost' && name === 'transfer') iost(movement)
    else if (movement.token === RAM && name === 'transfer') ram(movement)
    else if (movement.token === RAM && name === 'issue' && scope.block.height > 0)
      changeMarket(scope, market => {
        market.left += Number(movement.amount)
      })
  }
}

/** An amount as the contract's double: ram.iost trades in hundredths of IOST. */
const toHundredths = (units: bigint): number => Number(units / 1_000_000n) / 100

const addTotal = ({ state }: Scope, owner: string, bytes: bigint): void =>
  changeResource(state, owner, { ram_total: getResource(state, owner).ram_total + bytes })

/**
 * Applies the bytes of RAM that a transaction used or freed. Accounts pay with their `ram` token; contracts
 * charge their owner, system contracts nobody (go-iost `vm/host/teller.go` DoPay).
 */
export function payRam({ scope, tx }: TxScope): void {
  const perOwner = new Map<string, bigint>()
  for (const [payer, bytes] of tx.receipt.ramUsage) {
    if (payer.endsWith('.iost')) continue
    const owner = resolvePayer(scope, payer)
    perOwner.set(owner, (perOwner.get(owner) ?? 0n) + bytes)
  }
  for (const [owner, bytes] of perOwner) {
    scope.ledger.add(RAM, owner, { change: -bytes, by: { kind: 'ram' } })
    changeResource(scope.state, owner, { ram_used: getResource(scope.state, owner).ram_used + bytes })
  }
}

function resolvePayer(scope: Scope, payer: string): string {
  if (!isContractId(payer) || isSystemContract(payer)) return payer
  const owner = scope.state.get(contracts, payer)?.owner ?? findMaker(scope, payer)
  if (owner === undefined)
    throw new Failure('defect', `Block ${scope.block.height} charges RAM to "${payer}", which was never deployed.`)
  return owner
}

/**
 * Owner of a contract that another contract deployed, if nothing else in that transaction names it: the publisher of
 * the executed transaction whose hash is in the contract's id (go-iost `vm/native/system.go` setCode). RAM is charged
 * only to contracts that exist (`vm/host/teller.go` DoPay). undefined: there is no such transaction.
 */
function findMaker(scope: Scope, id: string): string | undefined {
  const { block, state } = scope
  const hash = parseDeployHash(id)
  if (hash === undefined) return undefined
  const within = block.transactions.find(tx => tx.hash === hash)
  if (within !== undefined) return applies(within) ? within.publisher : undefined
  return state.publisherOf(hash)
}
