import { expect, test } from 'bun:test'
import { watchLateness } from './lateness.ts'

test('lateness: the longest of the last second, including the one that is not over yet', () => {
  let time = 0
  let look = (): void => undefined
  const lateness = watchLateness(
    () => time,
    (_ms, each) => {
      look = each
      return () => undefined
    },
  )
  const lookAt = (at: number): number => {
    time = at
    look()
    return lateness.ms()
  }
  expect(lookAt(50)).toBe(0)
  time = 500
  expect(lateness.ms()).toBe(400)
  expect(lookAt(500)).toBe(400)
  expect(lookAt(550)).toBe(400)
  for (let at = 600; at < 1_500; at += 50) expect(lookAt(at)).toBe(400)
  for (let at = 1_500; at < 1_600; at += 50) expect(lookAt(at)).toBe(0)
})
