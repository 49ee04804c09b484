import { expect, test } from 'bun:test'
import { createPace } from './pace.ts'

test('perSecond: the rate is that between the first and the last note, 0 before there are two', () => {
  const pace = createPace()
  expect([pace.perSecond(), pace.spanMs()]).toEqual([0, 0])
  pace.note(1_000, 10)
  expect(pace.perSecond()).toBe(0)
  for (const [at, count] of [
    [2_000, 100],
    [3_000, 50_010],
  ] as const)
    pace.note(at, count)
  expect([pace.perSecond(), pace.spanMs()]).toEqual([25_000, 2_000])
})

test('perSecond: notes older than the window are dropped, except the last two', () => {
  const pace = createPace(10_000)
  pace.note(0, 0)
  pace.note(5_000, 1_000)
  pace.note(15_000, 2_000)
  expect(pace.perSecond()).toBe(100)
  pace.note(60_000, 2_450)
  expect(pace.perSecond()).toBe(10)
})

test('perSecond: a decreasing count has started again, and the rate is never negative', () => {
  for (const windowMs of [10_000, undefined]) {
    const pace = createPace(windowMs)
    pace.note(0, 0)
    pace.note(1_000, 5_000)
    pace.note(2_000, 100)
    expect(pace.perSecond()).toBe(0)
    pace.note(3_000, 400)
    expect(pace.perSecond()).toBe(300)
  }
})
