import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRates } from './rate.ts'

const clock = (time: number) => {
  const state = { time, now: () => state.time }
  return state
}
const NOON = Date.UTC(2026, 10, 21, 12)
const caller = (perSecond: number, perDay: number, id = 'a') => ({ id, plan: { perSecond, perDay } })

test('take: a second’s worth at once, then one as often as the plan says', () => {
  const at = clock(NOON)
  const rates = createRates(at)
  const key = caller(2, 100)
  expect(rates.take(key)).toEqual({
    allowed: true,
    limit: 2,
    scope: 'second',
    remaining: 1,
    resetSeconds: 1,
    retryAfter: 0,
  })
  expect(rates.take(key)).toEqual({
    allowed: true,
    limit: 2,
    scope: 'second',
    remaining: 0,
    resetSeconds: 1,
    retryAfter: 0,
  })
  expect(rates.take(key)).toEqual({
    allowed: false,
    limit: 2,
    scope: 'second',
    remaining: 0,
    resetSeconds: 1,
    retryAfter: 1,
  })
  at.time += 499
  expect(rates.take(key).allowed).toBe(false)
  at.time += 1
  expect(rates.take(key).allowed).toBe(true)
  expect(rates.take(key).allowed).toBe(false)
  at.time += 3_600_000
  expect([1, 2, 3].map(() => rates.take(key).allowed)).toEqual([true, true, false])
})

test('take: the day ends at midnight UTC, and a refused call is not counted', () => {
  const at = clock(NOON)
  const rates = createRates(at)
  const key = caller(10, 3)
  expect(rates.take(key)).toEqual({
    allowed: true,
    limit: 3,
    scope: 'day',
    remaining: 2,
    resetSeconds: 43_200,
    retryAfter: 0,
  })
  rates.take(key)
  expect(rates.take(key).allowed).toBe(true)
  for (let again = 0; again < 100; again++)
    expect(rates.take(key)).toEqual({
      allowed: false,
      limit: 3,
      scope: 'day',
      remaining: 0,
      resetSeconds: 43_200,
      retryAfter: 43_200,
    })
  at.time = Date.UTC(2026, 10, 22) - 1
  expect(rates.take(key)).toEqual({
    allowed: false,
    limit: 3,
    scope: 'day',
    remaining: 0,
    resetSeconds: 1,
    retryAfter: 1,
  })
  at.time += 1
  expect(rates.take(key)).toEqual({
    allowed: true,
    limit: 3,
    scope: 'day',
    remaining: 2,
    resetSeconds: 86_400,
    retryAfter: 0,
  })
})

test('take: keys do not share', () => {
  const rates = createRates(clock(NOON))
  expect(rates.take(caller(1, 9, 'a')).allowed).toBe(true)
  expect(rates.take(caller(1, 9, 'a')).allowed).toBe(false)
  expect(rates.take(caller(1, 9, '__proto__')).allowed).toBe(true)
})

test('take: a clock that steps back neither gives nor takes', () => {
  const at = clock(NOON)
  const rates = createRates(at)
  rates.take(caller(1, 9))
  at.time -= 5_000
  expect(rates.take(caller(1, 9)).allowed).toBe(false)
  at.time += 1_000
  expect(rates.take(caller(1, 9)).allowed).toBe(true)
})

test('take: forgets the key unused for longest when there are too many', () => {
  const rates = createRates({ ...clock(NOON), maxKeys: 2 })
  for (const id of ['a', 'b', 'a', 'c']) rates.take(caller(1, 9, id))
  expect(['b', 'c'].map(id => rates.take(caller(1, 9, id)).allowed)).toEqual([true, false])
})

test('take: never more than the plan in any second plus a bucket, nor in a day', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 60 }),
      (perSecond, perDay, steps) => {
        const at = clock(NOON)
        const rates = createRates(at)
        const allowed: number[] = []
        for (const step of steps) {
          at.time += step
          if (rates.take(caller(perSecond, perDay)).allowed) allowed.push(at.time)
        }
        expect(allowed.length).toBeLessThanOrEqual(perDay)
        for (const start of allowed)
          expect(allowed.filter(time => time >= start && time < start + 1_000).length).toBeLessThanOrEqual(
            2 * perSecond,
          )
      },
    ),
  )
})
