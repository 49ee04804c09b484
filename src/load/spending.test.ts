import { expect, test } from 'bun:test'
import { spending } from './spending.ts'

test('spending: all time counts for what the load is at, also while that goes on; pauses between loads count for nothing', () => {
  let now = 0
  const time = spending({ elapsed: () => now })
  const pass = (ms: number) => {
    now += ms
  }
  pass(3)
  time.on('node')
  pass(5)
  time.on('deriving')
  pass(20)
  time.on('store')
  pass(7)
  expect(time.spent).toEqual({ node: 5, deriving: 20, store: 7 })
  pass(1)
  expect(time.spent).toEqual({ node: 5, deriving: 20, store: 8 })
  time.on(undefined)
  pass(1_000)
  time.on('node')
  pass(1)
  expect(time.spent).toEqual({ node: 6, deriving: 20, store: 8 })
})
