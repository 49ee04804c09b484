import { describe, expect, test } from 'bun:test'
import { computeGas, computeGasRate } from './gas.ts'

const SECOND = 1_000_000_000n
const start = 1_795_247_000n * SECOND
const state = (pledge: bigint, stock: bigint) => ({
  gas_pledge: pledge,
  gas_limit: pledge * 3n,
  gas_stock: stock,
  gas_updated: start,
})

describe('computeGasRate', () => {
  const cases: readonly (readonly [pledge: bigint, value: bigint, scale: number])[] = [
    [0n, 0n, 2],
    [101_000_000_000n, 116_150n, 2],
    [140_000_000n, 1_610n, 3],
    [1n, 115n, 10],
  ]
  test('the rate of gas: trailing zeros are dropped before the multiplication', () => {
    expect(cases.map(([pledge]) => computeGasRate(pledge))).toEqual(cases.map(([, value, scale]) => ({ value, scale })))
  })
  test('the rate of gas: an overflow of int64 falls back to whole IOST', () => {
    expect(computeGasRate(90_000_000_000_000_001n)).toEqual({ value: 900_000_000n * 115n, scale: 2 })
  })
})

describe('computeGas', () => {
  test('gas at a time: gas grows by 1.15 a second per IOST from the stored amount', () => {
    expect(computeGas(state(10n ** 10n, 5000n), start + 10n * SECOND)).toBe(500n + 115_000n)
  })
  test('gas at a time: growth is rounded to the scale of the rate, then cut to two decimals', () => {
    // 1.4 IOST: 1.610 gas/s; half a second and a bit is 0.8050…161 → 0.805 at scale 3 → 0.80
    expect(computeGas(state(140_000_000n, 0n), start + SECOND / 2n + 100_000n)).toBe(80n)
  })
  test('gas at a time: the third decimal of a stock counts until it is cut', () => {
    // 0.008 + 0.805 gas
    expect(computeGas(state(140_000_000n, 8n), start + SECOND / 2n)).toBe(81n)
  })
  test('gas at a time: gas never exceeds the limit', () => {
    expect(computeGas(state(10n ** 9n, 2_999_999_000n), start + 1000n * SECOND)).toBe(300_000_000n)
  })
  test('gas at a time: growth stops after three days', () => {
    const three = computeGas(state(10n ** 9n, 0n), start + 3n * 86_400n * SECOND)
    expect(computeGas(state(10n ** 9n, 0n), start + 9n * 86_400n * SECOND)).toBe(three)
  })
})
