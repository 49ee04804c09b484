import { base58Of32 } from '#chain/base58.ts'
import { drawBytes, mix } from './random.ts'

/** Names of accounts and tokens. They are valid, their order differs from that of their numbers, and some are odd. */
export const HUB = 'busy_hub'
export const FOUNDER = 'founder'
export const DEAD = 'deadaddr'
export const FOUNDATION = 'foundation'
export const ADMIN = 'admin'
export const CREATORS = ['creator_0', 'creator_1', 'creator_2', 'creator_3'] as const

export type Token = { readonly symbol: string; readonly decimals: number; readonly issuer: string }
/** `coin` is the token with up to a million holders. */
export const TOKENS = {
  iost: { symbol: 'iost', decimals: 8, issuer: 'issue.iost' },
  coin: { symbol: 'coin', decimals: 3, issuer: FOUNDER },
  mint: { symbol: 'mint', decimals: 0, issuer: HUB },
  contribute: { symbol: 'contribute', decimals: 8, issuer: 'bonus.iost' },
  ram: { symbol: 'ram', decimals: 0, issuer: 'ram.iost' },
} as const satisfies Readonly<Record<string, Token>>

/** Names of this kind exist on the real chain. */
const ODD: ReadonlyMap<number, string> = new Map([
  [3, '__proto__'],
  [4, 'constructor'],
  [5, '12345'],
  [6, 'undefined'],
  [7, 'toString'.toLowerCase()],
])
const ETHEREUM_EVERY = 53

/** An odd number, so that multiplication by it is a permutation of 32-bit integers. */
const SPREAD = 0x9e3779b1

function spelled(index: number): string {
  const code = Math.imul(index, SPREAD) >>> 0
  if (index % ETHEREUM_EVERY === 11)
    return `0x${[1, 2, 3, 4].map(part => mix(1, part, index).toString(16).padStart(8, '0')).join('')}${code.toString(16).padStart(8, '0')}`
  return `u${code.toString(36).padStart(7, '0')}`
}

/** The public key of a number: base58 of 32 bytes. */
export const keyOf = (seed: number, index: number): string => base58Of32(drawBytes(seed, 901, index))

export const producerName = (index: number): string => `producer${String(index).padStart(3, '0')}`

/** An account that signed up at the k-th transaction of a cycle. */
export const newcomerName = (cycle: number, k: number): string =>
  `n${cycle.toString(36)}_${k.toString(36).padStart(3, '0')}`

/** Names of accounts by number, each computed once. */
export function accountNames(): (index: number) => string {
  const made: string[] = []
  return index => {
    const known = made[index]
    if (known !== undefined) return known
    const name = ODD.get(index) ?? spelled(index)
    made[index] = name
    return name
  }
}
