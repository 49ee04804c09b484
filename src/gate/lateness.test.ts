import { expect, test } from 'bun:test'
import { watchLateness } from './lateness.ts'

/** A thread with a clock of its own, and the timer that is set. */
const thread = () => {
  let time = 0
  const timer = { ms: 0, look: (): void => undefined, isCleared: false }
  const noted: number[] = []
  const lateness = watchLateness(
    ms => noted.push(ms),
    () => time,
    (ms, look) => {
      Object.assign(timer, { ms, look, isCleared: false })
      return () => Object.assign(timer, { isCleared: true })
    },
  )
  return {
    ...{ lateness, timer, noted },
    at: (now: number) => {
      time = now
    },
    lookAt: (now: number): number => {
      time = now
      timer.look()
      return lateness.ms()
    },
  }
}

test('lateness: the longest of the last second, including the one that is not over yet', () => {
  const { lateness, at, lookAt } = thread()
  lateness.noteRequest()
  expect(lookAt(50)).toBe(0)
  at(500)
  expect(lateness.ms()).toBe(400)
  expect(lookAt(500)).toBe(400)
  expect(lookAt(550)).toBe(400)
  for (let now = 600; now < 1_500; now += 50) expect(lookAt(now)).toBe(400)
  for (let now = 1_500; now < 1_600; now += 50) expect(lookAt(now)).toBe(0)
})

test('lateness: an idle thread looks once a second, from the next request on 20 times', () => {
  const { lateness, timer, noted, at, lookAt } = thread()
  expect(timer.ms).toBe(1_000)
  expect(lookAt(1_300)).toBe(300)
  expect(timer.ms).toBe(1_000)
  at(1_400)
  lateness.noteRequest()
  expect({ ...timer, look: 0 }).toEqual({ ms: 50, look: 0, isCleared: false })
  expect(lateness.ms()).toBe(300)
  for (let look = 1; look < 40; look += 1) lookAt(1_400 + look * 50)
  expect(timer.ms).toBe(50)
  lateness.noteRequest()
  for (let look = 0; look < 40; look += 1) lookAt(3_400 + look * 50)
  expect(timer.ms).toBe(50)
  lookAt(5_400)
  expect(timer.ms).toBe(1_000)
  expect(lateness.ms()).toBe(0)
  expect(noted).toEqual([300, 0, 0, 0, 0])
  lateness.stop()
  expect(timer.isCleared).toBe(true)
})
