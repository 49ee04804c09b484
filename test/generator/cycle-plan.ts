import { createDraws } from './random.ts'
import type { Profile, Settings } from './settings.ts'

type Draw = ReturnType<typeof createDraws>

const COUNTS: Readonly<Record<Profile, (draws: Draw) => number>> = {
  sparse: draws => (draws.unit() < 0.94 ? 0 : 1 + draws.below(3)),
  busy: draws => 40 + draws.below(21),
  mixed: draws => {
    const kind = draws.unit()
    if (kind < 0.6) return 0
    return kind < 0.9 ? 1 + draws.below(6) : 20 + draws.below(40)
  },
}

/** The transactions per block of a cycle, the same in every cycle. */
export function scheduleOf({ seed, profile, cycle }: Settings) {
  const draws = createDraws()
  const firsts = new Uint32Array(cycle + 1)
  let total = 0
  for (let offset = 0; offset < cycle; offset += 1) {
    firsts[offset] = total
    draws.start(seed, 1, offset)
    total += COUNTS[profile](draws)
  }
  total = Math.max(2, total + (total % 2))
  firsts[cycle] = total
  const offsets = new Uint32Array(total)
  for (let offset = 0; offset < cycle; offset += 1) offsets.fill(offset, firsts[offset] ?? 0, firsts[offset + 1] ?? 0)
  return {
    /** Number of transactions of a cycle, which is even. The second half reverts the first one. */
    count: total,
    /** Number of the first transaction of a block of the cycle; for the offset `cycle`: `count`. */
    first: (offset: number): number => firsts[offset] ?? 0,
    /** Offset of the block that contains the k-th transaction of the cycle. */
    offset: (k: number): number => offsets[k] ?? 0,
  }
}

/**
 * The plan of the transactions of a cycle, by their number in its first half. The second half reverts them in
 * the same order. So after a cycle every account has what it had before, for any length of the chain, except
 * for what grows: newcomers, block rewards and NFTs. Amounts are random in every cycle, up to the bounds
 * below. An account that starts with the most it can ever owe at once never falls below zero.
 */
const MIXED = {
  iost: 292,
  nft: 8,
  coin: 200,
  play: 160,
  route: 40,
  multi: 40,
  twins: 20,
  failed: 80,
  poor: 10,
  freeze: 30,
  unvote: 30,
  pledge: 20,
  ram: 15,
  store: 20,
  mint: 15,
  signUp: 6,
  exchange: 6,
  text: 6,
  none: 2,
}
export type Kind = keyof typeof MIXED
export const KINDS = Object.keys(MIXED) as readonly Kind[]
const WEIGHTS: Readonly<Record<Profile, typeof MIXED>> = {
  mixed: MIXED,
  sparse: MIXED,
  // A transaction without actions makes loaders request the whole block again, so large blocks rarely have one.
  busy: { ...MIXED, iost: 692, coin: 600, none: 0.1 },
}

/** The maximum that one transaction moves, in smallest units. */
export const MOST = { iost: 5_000_000_000, coin: 5_000, votes: 1_000_000_000, ram: 64 } as const

export const CONTRACTS = 12
/** The hub's number among accounts. */
export const HUB_INDEX = -1
/** The share of transactions from the hub, and the share to it. */
const FROM_HUB = 0.14
const TO_HUB = 0.15

/** Kind and accounts of a transaction; `a` pays first. The object is changed in place. */
export type Plan = { kind: Kind; coin: boolean } & Record<'a' | 'b' | 'c' | 'd' | 'contract' | 'other', number>

/** Each kind as often as its weight says, in tenths. */
const tableOf = (weights: typeof MIXED): readonly Kind[] =>
  KINDS.flatMap(kind => new Array<Kind>(Math.round(weights[kind] * 10)).fill(kind))

export function cyclePlan({ seed, profile, holders, voters }: Settings) {
  const draws = createDraws()
  const kinds = tableOf(WEIGHTS[profile])
  const plan: Plan = { kind: 'none', a: 0, b: 0, c: 0, d: 0, contract: 0, other: 0, coin: false }
  const other = (...taken: readonly number[]): number => {
    let one = draws.zipf(holders)
    while (taken.includes(one)) one = (one + 1) % holders
    return one
  }
  return {
    /** The plan of transaction `j` of the first half. Every call returns the same object. */
    read: (j: number): Plan => {
      draws.start(seed, 2, j)
      plan.kind = kinds[draws.below(kinds.length)] ?? 'iost'
      const hub = draws.unit()
      plan.a = hub < FROM_HUB ? HUB_INDEX : draws.zipf(holders)
      plan.b = hub >= FROM_HUB && hub < FROM_HUB + TO_HUB ? HUB_INDEX : other(plan.a)
      plan.coin = draws.unit() < 0.4
      plan.contract = draws.zipf(CONTRACTS)
      plan.other = (plan.contract + 1 + draws.below(CONTRACTS - 1)) % CONTRACTS
      if (plan.kind === 'multi') {
        plan.c = other(plan.a, plan.b)
        plan.d = other(plan.a, plan.b, plan.c)
      }
      if (plan.kind === 'unvote') plan.a = draws.zipf(voters)
      return plan
    },
  }
}

/**
 * The amounts that every account needs when the cycles begin, in smallest units: all its payments of one half of a cycle.
 * The hub is the last entry.
 */
export function needsOf(settings: Settings, schedule: ReturnType<typeof scheduleOf>) {
  const none = () => new Float64Array(settings.holders + 1)
  const needs = { iost: none(), coin: none(), votes: none(), ram: none() }
  const plans = cyclePlan(settings)
  for (let j = 0; j < schedule.count / 2; j += 1) {
    const { kind, a, coin } = plans.read(j)
    const [what, times] = PAID[kind === 'freeze' && coin ? 'coin' : kind] ?? ['iost', 0]
    const place = a === HUB_INDEX ? settings.holders : a
    needs[what][place] = (needs[what][place] ?? 0) + times * MOST[what]
  }
  return needs
}

/** What the first account of a transaction pays, and how many times the maximum. */
const PAID: Partial<Readonly<Record<Kind, readonly [what: keyof typeof MOST, times: number]>>> = {
  ...{ iost: ['iost', 1], play: ['iost', 1], route: ['iost', 1], pledge: ['iost', 1], ram: ['iost', 1] },
  ...{ freeze: ['iost', 1], twins: ['iost', 2], multi: ['iost', 3], coin: ['coin', 1], unvote: ['votes', 1] },
  store: ['ram', 1],
}
