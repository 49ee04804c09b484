import { expect, test } from 'bun:test'
import { untilFailure } from './until-failure.ts'

test('untilFailure: gives what came before, then why it ended', async () => {
  const error = new Error('gone')
  const items = untilFailure(
    (async function* () {
      yield 1
      yield 2
      throw error
    })(),
  )
  expect(await Array.fromAsync(items)).toEqual([1, 2])
  expect(items.failure).toEqual({ error })
})

test('untilFailure: a stream that ends, or is left, did not fail; its source is closed', async () => {
  let closed = 0
  const source = async function* () {
    try {
      yield 1
      yield 2
    } finally {
      closed++
    }
  }
  const whole = untilFailure(source())
  expect(await Array.fromAsync(whole)).toEqual([1, 2])
  const left = untilFailure(source())
  const leave = async () => {
    for await (const item of left) throw new Error(`left at ${item}`)
  }
  expect(await leave().catch(String)).toBe('Error: left at 1')
  expect([whole.failure, left.failure, closed]).toEqual([undefined, undefined, 2])
})
