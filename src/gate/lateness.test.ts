import { expect, test } from 'bun:test'
import { watchLateness } from './lateness.ts'

/** A thread with its own clock, and the timer that is set. */
function thread() {
  let time = 0
  const timer = { ms: 0, measure: (): void => undefined, isCleared: false }
  const noted: number[] = []
  const lateness = watchLateness(
    ms => noted.push(ms),
    () => time,
    (ms, measure) => {
      Object.assign(timer, { ms, measure, isCleared: false })
      return () => Object.assign(timer, { isCleared: true })
    },
  )
  return {
    ...{ lateness, timer, noted },
    at: (now: number) => {
      time = now
    },
    measureAt: (now: number): number => {
      time = now
      timer.measure()
      return lateness.ms()
    },
  }
}

test('lateness: the longest delay of the last second counts, including one that is not over yet', () => {
  const { lateness, at, measureAt } = thread()
  lateness.noteRequest()
  expect(measureAt(50)).toBe(0)
  at(500)
  expect(lateness.ms()).toBe(400)
  expect(measureAt(500)).toBe(400)
  expect(measureAt(550)).toBe(400)
  for (let now = 600; now < 1_500; now += 50) expect(measureAt(now)).toBe(400)
  for (let now = 1_500; now < 1_600; now += 50) expect(measureAt(now)).toBe(0)
})

test('lateness: an idle thread is measured once a second, and 20 times a second after a request', () => {
  const { lateness, timer, noted, at, measureAt } = thread()
  expect(timer.ms).toBe(1_000)
  expect(measureAt(1_300)).toBe(300)
  expect(timer.ms).toBe(1_000)
  at(1_400)
  lateness.noteRequest()
  expect({ ...timer, measure: 0 }).toEqual({ ms: 50, measure: 0, isCleared: false })
  expect(lateness.ms()).toBe(300)
  for (let look = 1; look < 40; look += 1) measureAt(1_400 + look * 50)
  expect(timer.ms).toBe(50)
  lateness.noteRequest()
  for (let look = 0; look < 40; look += 1) measureAt(3_400 + look * 50)
  expect(timer.ms).toBe(50)
  measureAt(5_400)
  expect(timer.ms).toBe(1_000)
  expect(lateness.ms()).toBe(0)
  expect(noted).toEqual([300, 0, 0, 0, 0])
  lateness.stop()
  expect(timer.isCleared).toBe(true)
})
