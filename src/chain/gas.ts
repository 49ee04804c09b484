/**
 * Gas of an account at a given time, computed like the node (go-iost `vm/database/gas_handler.go` PGasAtTime and
 * `common/decimal.go`): fixed-point int64 numbers with a varying scale, one multiplication by a double of seconds.
 */

/** The gas of an account or contract; a resource document has these fields. */
export type GasState = {
  /** IOST pledged for it × 10^8. */
  readonly gas_pledge: bigint
  /** Gas × 100. */
  readonly gas_limit: bigint
  readonly gas_stock: bigint
  /** Block time of the last refresh, nanoseconds since 1970; 0: never pledged for. */
  readonly gas_updated: bigint
}

/** Maximum gas per pledged IOST, × 100. */
export const GAS_LIMIT_PER_IOST = 30_000_000n
/** Gas granted at once per pledged IOST, × 100. */
export const GAS_REWARD_PER_IOST = 10_000_000n
/** Growth per IOST and second × 100: (300,000.00 − 100,000.00) ÷ 172,800 s, cut to two decimals. */
const RATE_PER_IOST = 115n
const RATE_SCALE = 2
const GAS_SCALE = 2
const IOST_SCALE = 8
/** Growth stops three days after the last refresh. */
const MAX_SECONDS = 3 * 24 * 3600
const INT64_MAX = 2n ** 63n - 1n

/** A number of value ÷ 10^scale. */
export type Scaled = { readonly value: bigint; readonly scale: number }

/** Gas per second for a pledge in 10^-8 IOST; its scale is the one at which the node rounds growth. */
export const gasRateOf = (pledge: bigint): Scaled => {
  let value = pledge
  let scale = IOST_SCALE
  while (scale > 0 && value % 10n === 0n) {
    value /= 10n
    scale -= 1
  }
  const rate = { value: value * RATE_PER_IOST, scale: scale + RATE_SCALE }
  if (rate.value <= INT64_MAX) return rate
  return { value: (pledge / 10n ** BigInt(IOST_SCALE)) * RATE_PER_IOST, scale: RATE_SCALE }
}

/** Gas × 100 at `time` (nanoseconds since 1970, a block's time). */
export const gasAt = (state: GasState, time: bigint): bigint => {
  const rate = gasRateOf(state.gas_pledge)
  const seconds = state.gas_updated > 0n ? Math.min(Number(time - state.gas_updated) / 1e9, MAX_SECONDS) : 0
  const grown = grownBy(rate.value, seconds)
  if (grown === undefined) return state.gas_stock
  const scale = Math.max(rate.scale, GAS_SCALE)
  const sum = grown * 10n ** BigInt(scale - rate.scale) + state.gas_stock * 10n ** BigInt(scale - GAS_SCALE)
  if (sum > INT64_MAX) return state.gas_stock
  const limit = state.gas_limit * 10n ** BigInt(scale - GAS_SCALE)
  return (limit < sum ? limit : sum) / 10n ** BigInt(scale - GAS_SCALE)
}

/** The product as the node's double gives it, as an integer; undefined if the node detects an overflow. */
const grownBy = (rate: bigint, seconds: number): bigint | undefined => {
  if (rate * BigInt(Math.ceil(seconds)) > INT64_MAX) return undefined
  return BigInt(Math.round(Number(rate) * seconds))
}
