import { unitsAsRead } from '#chain/amount.ts'
import { computeGas, GAS_LIMIT_PER_UNIT, GAS_REWARD_PER_UNIT, storedGas } from '#chain/gas.ts'
import { type PledgeDoc, pledgeId, pledges } from '#indices/pledge.ts'
import { type ResourceDoc, resources } from '#indices/resource.ts'
import { seriesOf } from '#indices/series.ts'
import { findText, type ParsedReceipt } from './receipt.ts'
import type { TxScope } from './scope.ts'
import type { State } from './state.ts'

const IOST_DECIMALS = 8

/** Applies `gas.iost/pledge [pledger, to, amount]` and `unpledge [pledger, from, amount]`. */
export function applyGas(at: TxScope, parsed: ParsedReceipt): void {
  if (parsed.name !== 'pledge' && parsed.name !== 'unpledge') return
  const pledger = findText(parsed.args, 0)
  const beneficiary = findText(parsed.args, 1)
  const amount = unitsAsRead(findText(parsed.args, 2) ?? '', IOST_DECIMALS)
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
  const stock = before.gas_updated === 0n ? reward : least(limit, storedGas(computeGas(before, block.time)) + reward)
  changeResource(state, owner, {
    gas_pledge: pledge,
    gas_limit: limit,
    gas_stock: stock,
    gas_updated: block.time,
  })
}

/** Key of the series of a pledge. */
const pledgedKey = (pledger: string, beneficiary: string): string =>
  pledger === beneficiary ? seriesOf.pledgedForItself(pledger) : seriesOf.pledgedForOthers(pledger)

/** Changes a pledge. Pairs are in the order of their first pledge; one that fell to zero returns as the last. */
function changePledge(
  { scope }: TxScope,
  { pledger, beneficiary }: Pick<PledgeDoc, 'pledger' | 'beneficiary'>,
  pledged: bigint,
): void {
  const { series: past } = scope
  past.note(past.open(pledgedKey(pledger, beneficiary)), pledged, { kind: 'tx' })
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
  changeResource(state, tx.publisher, {
    gas_stock: stock > 0n ? storedGas(stock) : 0n,
    gas_updated: block.time,
  })
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Gas and RAM of an owner; all zero for an owner that never had any. */
export const getResource = (state: State, owner: string): ResourceDoc =>
  state.get(resources, owner) ?? {
    id: owner,
    gas_pledge: 0n,
    gas_limit: 0n,
    gas_stock: 0n,
    gas_updated: 0n,
    ram_used: 0n,
    ram_total: 0n,
  }

export function changeResource(state: State, owner: string, change: Partial<ResourceDoc>): void {
  state.put(resources, { ...getResource(state, owner), ...change })
}
