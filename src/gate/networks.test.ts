import { expect, test } from 'bun:test'
import { type AddressLimits, createAddressLimits } from './networks.ts'

const PLAN = { perSecond: 1, perDay: 100 }

/** Limits at a time that is set by hand. */
function limits(maxNetworks = 1_000) {
  const at = { time: 1_000_000 }
  return { at, one: createAddressLimits({ elapsed: () => at.time }, maxNetworks) }
}

test('wrong keys: a hundred a minute are allowed, then one every 600 ms', () => {
  const { at, one } = limits()
  for (let times = 0; times < 100; times++) {
    expect(one.wrongKeyWaitMs('a')).toBe(0)
    one.noteWrongKey('a')
  }
  expect([one.wrongKeyWaitMs('a'), one.wrongKeyWaitMs('b')]).toEqual([600, 0])
  // Refused requests do not lengthen the wait.
  for (let times = 0; times < 300; times++) one.noteWrongKey('a')
  at.time += 600
  expect(one.wrongKeyWaitMs('a')).toBe(0)
  one.noteWrongKey('a')
  expect(one.wrongKeyWaitMs('a')).toBe(600)
  at.time += 60_000
  for (let times = 0; times < 100; times++) one.noteWrongKey('a')
  expect(one.wrongKeyWaitMs('a')).toBe(600)
})

test('test key: a network has half of the total limit as a burst, in a minute and in a day', () => {
  const { at, one } = limits()
  for (let times = 0; times < 30; times++) expect(one.test('a', PLAN)).toBe(0)
  expect([one.test('a', PLAN), one.test('b', PLAN)]).toEqual([2_000, 0])
  at.time += 60_000
  for (let times = 0; times < 20; times++) expect(one.test('a', PLAN)).toBe(0)
  // Fifty requests of the day are used, and one becomes available every 1,728 seconds.
  expect(one.test('a', PLAN)).toBeGreaterThan(1_600_000)
})

test('networks: those with the fewest failures are evicted, and those with the most are not', () => {
  const { one } = limits(8)
  for (let times = 0; times < 100; times++) one.noteWrongKey('guesser')
  for (let other = 0; other < 100; other++) {
    one.noteWrongKey(`n${other}`)
    expect(one.wrongKeyWaitMs('guesser')).toBe(600)
  }
  for (let times = 0; times < 99; times++) one.noteWrongKey('n99')
  expect([one.wrongKeyWaitMs('n99'), one.wrongKeyWaitMs('n0')]).toEqual([600, 0])
})

/** IPv6 networks (/64) of one customer: all of a /56, or of a /48 with one in each /56. */
const WITHIN = {
  '/56': (at: number) => `20010db80001aa${(at % 256).toString(16).padStart(2, '0')}`,
  '/48': (at: number) => `20010db80001${(at % 256).toString(16).padStart(2, '0')}00`,
} as const

const LIMITS = {
  visit: (limits: AddressLimits, network: string) => limits.visit(network),
  refresh: (limits: AddressLimits, network: string) => limits.refresh(network),
  'wrong key': (limits: AddressLimits, network: string) => {
    const wait = limits.wrongKeyWaitMs(network)
    if (wait === 0) limits.noteWrongKey(network)
    return wait
  },
  'test key': (limits: AddressLimits, network: string) => limits.test(network, { perSecond: 10, perDay: 1_000_000 }),
} as const

for (const [what, count] of Object.entries(LIMITS))
  test(`networks: ${what}: a customer with many IPv6 networks has the limits of the networks around them`, () => {
    const alone = (limits: AddressLimits, of: (at: number) => string): number => {
      let counted = 0
      while (counted < 100_000 && count(limits, of(counted)) === 0) counted += 1
      return counted
    }
    const own = alone(limits().one, () => '20010db800010000')
    for (const [name, most] of [
      ['/56', 2],
      ['/48', 4],
    ] as const) {
      const { one } = limits()
      expect([name, alone(one, WITHIN[name])]).toEqual([name, own * (what === 'test key' ? 1 : most)])
      // Another customer, and IPv4 addresses with the same first digits, are free.
      expect([count(one, '20010db80002aa00'), count(one, '20010db8')]).toEqual([0, 0])
    }
  })
