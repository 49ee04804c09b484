import { expect, test } from 'bun:test'
import { computeGas, computeGasRate } from './gas.ts'

const SECOND = 1_000_000_000n
const DAY = 86_400n * SECOND

test.each([
  [0n, 0n, 2],
  [101_000_000_000n, 116_150n, 2],
  // Trailing zeros are dropped before the multiplication.
  [140_000_000n, 1_610n, 3],
  [1n, 115n, 10],
  // An overflow of int64 falls back to whole IOST.
  [90_000_000_000_000_001n, 900_000_000n * 115n, 2],
])('computeGasRate: of a pledge of %p: %p at scale %d', (pledge, value, scale) => {
  expect(computeGasRate(pledge)).toEqual({ value, scale })
})

test.each([
  ['gas grows by 1.15 a second per IOST from the stored amount', 10n ** 10n, 5000n, 10n * SECOND, 500n + 115_000n],
  // 1.4 IOST: 1.610 gas a second; half a second and a bit is 0.8050…161, 0.805 at scale 3, and 0.80 after the cut.
  ['growth is rounded to the scale of the rate', 140_000_000n, 0n, SECOND / 2n + 100_000n, 80n],
  // 0.008 + 0.805 gas
  ['the third decimal of a stock counts until it is cut', 140_000_000n, 8n, SECOND / 2n, 81n],
  ['gas never exceeds the limit', 10n ** 9n, 2_999_999_000n, 1000n * SECOND, 300_000_000n],
  ['it grows for three days', 10n ** 9n, 0n, 3n * DAY, 298_080_000n],
  ['growth stops after three days', 10n ** 9n, 0n, 9n * DAY, 298_080_000n],
])('computeGas: %s', (...[_, gas_pledge, gas_stock, later, gas]) => {
  const stored = { gas_pledge, gas_limit: gas_pledge * 3n, gas_stock, gas_updated: 1_795_247_000n * SECOND }
  expect(computeGas(stored, stored.gas_updated + later)).toBe(gas)
})
