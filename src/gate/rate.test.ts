import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRates, type RateAnswer, watchLateness } from './rate.ts'

function clock(time: number) {
  const state = { time, now: () => state.time, elapsed: () => state.time - NOON }
  return state
}
const NOON = Date.UTC(2026, 10, 21, 12)
const caller = (perSecond: number, perDay: number, id = 'a') => ({ id, plan: { perSecond, perDay } })

/**
 * An answer in one line: allowed, requests left of the limit, seconds until the limit is full again, and
 * seconds until one more may pass.
 */
const line = ({ allowed, remaining, limit, scope, resetSeconds, retryAfter }: RateAnswer): string =>
  `${allowed ? 'yes' : 'no'}, ${remaining} of ${limit} a ${scope}, ${resetSeconds}, ${retryAfter}`

/** Rates by a clock that stands still at `at.time`. */
function openRates(time = NOON) {
  const at = clock(time)
  return { at, rates: createRates({ clock: at }) }
}

test('take: requests for one second are accepted at once, and then one more each time its share of a second is over', () => {
  const { at, rates } = openRates()
  const key = caller(2, 100)
  expect([1, 2, 3].map(() => line(rates.take(key)))).toEqual([
    'yes, 1 of 2 a second, 1, 0',
    'yes, 0 of 2 a second, 1, 0',
    'no, 0 of 2 a second, 1, 1',
  ])
  at.time += 299
  expect(rates.take(key).allowed).toBe(false)
  at.time += 201
  expect([1, 2].map(() => rates.take(key).allowed)).toEqual([true, false])
  for (const ms of [1_000, 3_600_000]) {
    at.time += ms
    expect([1, 2, 3].map(() => rates.take(key).allowed)).toEqual([true, true, false])
  }
})

test('take: the day ends at midnight UTC, and refused requests are not counted', () => {
  const { at, rates } = openRates()
  const take = () => line(rates.take(caller(10, 3)))
  expect([take(), take(), take()]).toEqual([2, 1, 0].map(left => `yes, ${left} of 3 a day, 43200, 0`))
  for (let again = 0; again < 100; again++) expect(take()).toBe('no, 0 of 3 a day, 43200, 43200')
  at.time = Date.UTC(2026, 10, 22) - 1
  expect(take()).toBe('no, 0 of 3 a day, 1, 1')
  at.time += 1
  expect(take()).toBe('yes, 2 of 3 a day, 86400, 0')
})

test('take: a client at exactly the rate of its plan is not refused when this process was late', () => {
  const at = clock(NOON)
  const rates = createRates({ clock: at, lateness: { ms: () => 700, noteRequest: () => undefined } })
  for (let sent = 0; sent < 60; sent++) {
    // The 14 requests of the first 700 ms of the second second are handled at the end of these.
    at.time = NOON + (sent >= 20 && sent < 34 ? 33 : sent) * 50
    expect([sent, rates.take(caller(20, 1_000)).allowed]).toEqual([sent, true])
  }
})

test.each([
  [2, { allowed: true, waitMs: 150 }],
  [3, { allowed: false, waitMs: 0 }],
])('take: an early request waits, but after %d refusals in a second at four a second: %p', (refusals, expected) => {
  const { at, rates } = openRates()
  const take = (requests: number) => Array.from({ length: requests }, () => rates.take(caller(4, 100))).at(-1)
  expect(take(4 + refusals)).toMatchObject({ allowed: false })
  at.time += 100
  expect(take(1)).toMatchObject(expected)
  // After a second without refusals an early request waits again.
  at.time += 2_000
  take(5)
  at.time += 100
  expect(take(1)).toMatchObject({ allowed: true, waitMs: 150 })
})

test('take: a clock that goes back changes no limit', () => {
  let elapsed = 0
  const rates = createRates({ clock: { now: () => NOON - 5 * elapsed, elapsed: () => elapsed } })
  const isAllowed = (): boolean => rates.take(caller(1, 9)).allowed
  expect([isAllowed(), isAllowed()]).toEqual([true, false])
  elapsed += 1_000
  expect([isAllowed(), isAllowed()]).toEqual([true, false])
})

test('take: the key unused for longest is evicted when there are too many', () => {
  const rates = createRates({ clock: clock(NOON), maxKeys: 2 })
  for (const id of ['a', 'b', 'a', 'c']) rates.take(caller(1, 9, id))
  expect(['b', 'c'].map(id => rates.take(caller(1, 9, id)).allowed)).toEqual([true, false])
})

test('take: a second has at most a burst and the rate of the plan, and a day never more than the plan', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.integer({ min: -300, max: 700 }), { maxLength: 60 }),
      (perSecond, perDay, steps) => {
        const { at, rates } = openRates()
        const passed: number[] = []
        for (const step of steps) {
          if (step >= 0) at.time += step
          else if (step > -150) at.time += 1
          const { allowed, waitMs } = rates.take(caller(perSecond, perDay))
          if (allowed) passed.push(at.time + waitMs)
          expect(waitMs).toBeLessThanOrEqual(200)
        }
        expect(passed.length).toBeLessThanOrEqual(perDay)
        for (const start of passed)
          expect(passed.filter(time => time >= start && time < start + 1_000).length).toBeLessThan(2 * perSecond)
        // In the long run the rate is that of the plan.
        const [first = 0, last = 0] = [passed[0], passed.at(-1)]
        expect(passed.length).toBeLessThanOrEqual(perSecond + ((last - first) * perSecond) / 1_000 + 1)
      },
    ),
  )
})

test('take: a client at exactly the rate of its plan may wait a little, but is never refused', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 190 }), { minLength: 100, maxLength: 100 }), delays => {
      const { at, rates } = openRates()
      const times = delays.map((delay, index) => NOON + index * 50 + delay).toSorted((a, b) => a - b)
      for (const time of times) {
        at.time = time
        expect(rates.take(caller(20, 1_000)).allowed).toBe(true)
      }
    }),
  )
})

test('giveBack: a request refused for another reason does not count, and does not free its second twice', () => {
  const { at, rates } = openRates()
  const first = rates.take(caller(1, 2))
  at.time += 1_000
  expect(rates.take(caller(1, 2)).allowed).toBe(true)
  rates.giveBack(caller(1, 2), first)
  expect(rates.take(caller(1, 2)).allowed).toBe(false)
  at.time += 1_000
  const third = rates.take(caller(1, 2))
  expect(third.allowed).toBe(true)
  rates.giveBack(caller(1, 2), third)
  expect(rates.take(caller(1, 2)).allowed).toBe(true)
})

test('share: requests not shared by midnight count once, for their own day', async () => {
  const midnight = Date.UTC(2026, 10, 22)
  const day = midnight / 86_400_000
  const { at, rates } = openRates(midnight - 300)
  const key = caller(100, 10)
  const stored = new Map<number, number>()
  let meanwhile = (): void => undefined
  const usage = {
    add: async (of: number, counts: ReadonlyMap<string, number>, until: number) => {
      expect(Math.floor(until / 86_400_000)).toBe(of)
      meanwhile()
      stored.set(of, (stored.get(of) ?? 0) + (counts.get('a') ?? 0))
      return new Map([['a', stored.get(of) ?? 0]])
    },
  }
  rates.take(key)
  meanwhile = () => {
    at.time = midnight + 100
    rates.take(key)
    meanwhile = () => undefined
  }
  // The answer arrives after midnight.
  await rates.share(usage)
  at.time = midnight + 86_400_000 - 300
  for (let times = 0; times < 3; times++) rates.take(key)
  const wrong = rates.take(key)
  at.time += 700
  rates.giveBack(key, wrong)
  const down = { add: () => Promise.reject(new Error('down')) }
  await expect(rates.share(down)).rejects.toThrow('down')
  expect(rates.take(key)).toMatchObject({ allowed: true, remaining: 9 })
  for (let times = 0; times < 2; times++) await rates.share(usage)
  expect([...stored]).toEqual([
    [day - 1, 1],
    [day, 4],
    [day + 1, 1],
  ])
  expect(rates.left(key).usedToday).toBe(1)
})

test('share: requests that could not be added are added once by the next share, with those of other processes', async () => {
  const { rates } = openRates()
  const key = caller(100, 10)
  const seen: number[] = []
  const add = async (_: number, counts: ReadonlyMap<string, number>) => {
    seen.push(counts.get('a') ?? 0)
    if (seen.length === 1) throw new Error('down')
    return new Map([['a', 2 + (counts.get('a') ?? 0)]])
  }
  rates.take(key)
  await expect(rates.share({ add })).rejects.toThrow('down')
  rates.take(key)
  const adding = rates.share({ add })
  // Counted while the answer is in flight.
  rates.take(key)
  await adding
  expect(seen).toEqual([1, 2])
  // Two requests of other processes, three of this one.
  expect(rates.left(key)).toMatchObject({ today: 5, usedToday: 5 })
})

test('lateness: the longest delay of the last second counts, including one that is not over yet', () => {
  let time = 0
  let measure = (): void => undefined
  const setTimer = (_ms: number, work: () => void) => {
    measure = work
    return () => undefined
  }
  const [onLate, now] = [() => undefined, () => time]
  const lateness = watchLateness(onLate, now, setTimer)
  const measureAt = (now: number): number => {
    time = now
    measure()
    return lateness.ms()
  }
  lateness.noteRequest()
  expect(measureAt(50)).toBe(0)
  time = 500
  expect(lateness.ms()).toBe(400)
  for (let now = 500; now < 1_500; now += 50) expect(measureAt(now)).toBe(400)
  for (let now = 1_500; now < 1_600; now += 50) expect(measureAt(now)).toBe(0)
})
