import { IOST_DECIMALS } from './amount.ts'
import { MAX_INT64 } from './bounds.ts'

/**
 * Gas of an account at a given time, computed like the node (go-iost `vm/database/gas_handler.go` PGasAtTime and
 * `common/decimal.go`): fixed-point int64 numbers with a varying scale, one multiplication by a double of seconds.
 */

/** The gas of an account or contract; a resource document has these fields. */
type GasState = {
  /** IOST pledged for it × 10^8. */
  readonly gas_pledge: bigint
  /** Gas × 1000: a pledge of 10^-8 IOST gives 0.001 gas, which the node keeps until the next refresh. */
  readonly gas_limit: bigint
  readonly gas_stock: bigint
  /** Block time of the last refresh, nanoseconds since 1970; 0: never pledged for. */
  readonly gas_updated: bigint
}

/** Maximum gas × 1000 for each 10^-8 IOST of a pledge: 300,000 gas per IOST. */
export const GAS_LIMIT_PER_UNIT = 3n
/** Gas × 1000 that is granted at once for each 10^-8 IOST of a pledge: 100,000 gas per IOST. */
export const GAS_REWARD_PER_UNIT = 1n
/** Decimals of the stored gas. */
export const STORED_GAS_SCALE = 3
/** Decimals of the gas that nodes report, and that transactions use and pay. */
const GAS_SCALE = 2
/** Growth per IOST and second × 100: (300,000.00 − 100,000.00) ÷ 172,800 s, cut to two decimals. */
const RATE_PER_IOST = 115n
const RATE_SCALE = 2

/** Gas per second (value ÷ 10^scale) for a pledge in 10^-8 IOST, with the scale at which the node rounds growth. */
export function computeGasRate(pledge: bigint): { readonly value: bigint; readonly scale: number } {
  let value = pledge
  let scale = IOST_DECIMALS
  while (scale > 0 && value % 10n === 0n) {
    value /= 10n
    scale -= 1
  }
  const rate = { value: value * RATE_PER_IOST, scale: scale + RATE_SCALE }
  if (rate.value <= MAX_INT64) return rate
  return { value: (pledge / 10n ** BigInt(IOST_DECIMALS)) * RATE_PER_IOST, scale: RATE_SCALE }
}

/** Gas × 100 at `time` (nanoseconds since 1970, a block's time). */
export function computeGas(state: GasState, time: bigint): bigint {
  const rate = computeGasRate(state.gas_pledge)
  // Growth stops three days after the last refresh.
  const seconds = state.gas_updated > 0n ? Math.min(Number(time - state.gas_updated) / 1e9, 3 * 24 * 3600) : 0
  // The node detects an overflow and keeps the stock.
  if (rate.value * BigInt(Math.ceil(seconds)) > MAX_INT64) return reportedGas(state.gas_stock)
  // The product as the node's double gives it.
  const grown = BigInt(Math.round(Number(rate.value) * seconds))
  const scale = Math.max(rate.scale, STORED_GAS_SCALE)
  const ofStored = 10n ** BigInt(scale - STORED_GAS_SCALE)
  const sum = grown * 10n ** BigInt(scale - rate.scale) + state.gas_stock * ofStored
  if (sum > MAX_INT64) return reportedGas(state.gas_stock)
  const limit = state.gas_limit * ofStored
  return reportedGas((limit < sum ? limit : sum) / ofStored)
}

/** Stored gas as nodes report it: × 100, with further decimals cut. */
const reportedGas = (stored: bigint): bigint => stored / 10n ** BigInt(STORED_GAS_SCALE - GAS_SCALE)

/** Gas × 100 as it is stored: × 1000. */
export const toStoredGas = (gas: bigint): bigint => gas * 10n ** BigInt(STORED_GAS_SCALE - GAS_SCALE)
